/**
 * Returns the fields of an unknown value; none if it isn't an object. Use it for the `code` of an error, too: in Jest, errors of
 * Node's modules are not `instanceof Error`.
 */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Returns the fields of the object in a JSON text that others may have written; none if it isn't one. */
export function fieldsOfJson(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}
