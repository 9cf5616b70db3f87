/** Checks ids, which are put into paths, and API keys, which are put into headers. */

const ID = /^[a-z0-9-]{1,60}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** Whether a value can be the id of a compute, which begins with `ep-`. */
export const isComputeId = (value: unknown): value is string => isId(value) && value.startsWith('ep-');

/** Whether a value can be the id of a branch, which begins with `br-`. */
export const isBranchId = (value: unknown): value is string => isId(value) && value.startsWith('br-');

/** Whether a value can be the id of an operation, which is a UUID. */
export const isOperationId = (value: unknown): value is string =>
  typeof value === 'string' && UUID.test(value);

/** Whether a value can be the id of an API key, which is an integer. */
export const isApiKeyId = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether a text can be an API key: one word of printable ASCII, which is safe in a header. */
export const isSendableKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
