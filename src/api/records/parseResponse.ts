/**
 * From a reply to records. One record that cannot be read never takes the others with it: a list tells what it
 * could read and, beside it, what it could not and why.
 */
import { ApiError } from '../errors.ts';
import type { Field } from './schema.ts';
import type { Reply } from '../transport/http.ts';

/** A record that is there but not as specified: its id where it has one, and the first field that is wrong. */
export interface UnreadableRecord {
  readonly id: string | undefined;
  readonly field: string;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly UnreadableRecord[];
}

/** Five times the largest account known; a reply with more is not worth the memory of the window. */
export const MAX_RECORDS = 100_000;

/** Fields we do not know pass through, so what is nested without end must be kept from those who walk records. */
const MAX_DEPTH = 32;

const LONGEST_NAME = 80;

/** In the place of a field, where no single one is to blame. */
const WHOLE = 'record';

const unusable = (what: string, reply: Reply, reason: 'shape' | 'tooLarge', field: string): ApiError =>
  new ApiError(
    `${what} answered ${reason === 'shape' ? 'without a usable' : 'with too many'} ${field}`,
    { kind: 'unexpectedReply', status: reply.status, reason, detail: field },
    { mayHaveExecuted: reply.method !== 'get' },
  );

/** A value's own property; undefined where there is none. */
export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const within = (json: unknown, name: string | undefined): unknown =>
  name === undefined ? json : property(json, name);

/**
 * Whether everything in it is within reach. On the way it takes out what JSON may call `__proto__`: a copy made field by
 * field would have it for its prototype.
 */
function isWithinReach(value: object, depth = MAX_DEPTH): boolean {
  if (depth === 0) return false;
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  for (const name in value) {
    const inner: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof inner === 'object' && inner !== null && !isWithinReach(inner, depth - 1)) return false;
  }
  return true;
}

const firstField = (path: readonly string[] = []): string => path.join('.').slice(0, LONGEST_NAME) || WHOLE;

const idOf = (value: unknown): string | undefined => {
  const id = property(value, 'id');
  return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, LONGEST_NAME) : undefined;
};

const read = <T>(value: unknown, record: Field<T>): { data: T } | { field: string } => {
  if (typeof value === 'object' && value !== null && !isWithinReach(value)) return { field: WHOLE };
  return record(value) ? { data: value } : { field: firstField(record.wrongIn?.(value)) };
};

/**
 * Every record of a list, the later one where two have the same id.
 * @param name the property that holds the list, or undefined when the reply is the list. @throws {ApiError} when there is no list
 */
export function readEach<T extends { readonly id: string | number }>(
  what: string,
  reply: Reply,
  name: string | undefined,
  record: Field<T>,
): Listed<T> {
  const list = within(reply.json, name);
  if (!Array.isArray(list)) throw unusable(what, reply, 'shape', name ?? 'list');
  if (list.length > MAX_RECORDS) throw unusable(what, reply, 'tooLarge', name ?? 'list');
  const items = new Map<string | number, T>();
  const unreadable: UnreadableRecord[] = [];
  for (const value of list) {
    const result = read(value, record);
    if ('data' in result) items.set(result.data.id, result.data);
    else unreadable.push({ id: idOf(value), field: result.field });
  }
  return { items: [...items.values()], unreadable };
}

/** @param name the property that holds the record, or undefined when the reply is the record. @throws {ApiError} */
export function readOne<T>(what: string, reply: Reply, name: string | undefined, record: Field<T>): T {
  const result = read(within(reply.json, name), record);
  if ('data' in result) return result.data;
  const field = [name, result.field].filter((part) => part !== undefined && part !== WHOLE).join('.');
  throw unusable(what, reply, 'shape', field || WHOLE);
}
