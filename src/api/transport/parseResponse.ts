/**
 * Parses responses into records. A record that can't be parsed doesn't affect the others: the result also lists the
 * unreadable records, with the reason.
 */
import type * as z from 'zod/mini';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { ApiError } from './errors.ts';
import type { Reply } from './http.ts';
import { Operation } from '../records/records.ts';

/** A record that isn't as specified: its id, if it has one, and its first invalid field. */
export interface UnreadableRecord {
  readonly id: string | undefined;
  readonly field: string;
}

/** The records of a list that were readable, and those that were not. */
export interface ParsedList<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly UnreadableRecord[];
}

/** A reply with a list. */
export interface ListReply<T> {
  readonly list: ParsedList<T>;
  /** The response body that the list was read from. */
  readonly body: string;
}

/** The most records of a list: five times the largest known account. More could exhaust the extension host's memory. */
export const MAX_RECORDS = 100_000;

const MAX_NAME_LENGTH = 80;

/** Reported instead of a field when no single field is wrong. */
const WHOLE = 'record';

const unusableReplyError = (
  { requestLine, isChange, status }: Reply,
  reason: 'shape' | 'tooLarge',
  field: string,
): ApiError =>
  new ApiError(
    `${requestLine} returned ${reason === 'shape' ? 'no usable' : 'too many'} ${field}`,
    { kind: 'unexpectedReply', status, reason, detail: field },
    { mayHaveExecuted: isChange },
  );

const propertyOrWhole = (json: unknown, name: string | undefined): unknown =>
  name === undefined ? json : fieldsOf(json)[name];

const recordId = (value: unknown): string | undefined => {
  const { id } = fieldsOf(value);
  return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, MAX_NAME_LENGTH) : undefined;
};

function parseOne<T>(value: unknown, record: z.ZodMiniType<T>): { data: T } | { field: string } {
  const { data, error } = record.safeParse(value);
  if (error === undefined) return { data };
  return { field: error.issues[0]?.path.join('.').slice(0, MAX_NAME_LENGTH) || WHOLE };
}

/** Each record of a list has an id or a name. Roles have no id. */
type Listable = { readonly id: string | number } | { readonly name: string };

const itemKey = (record: Listable): string | number => ('id' in record ? record.id : record.name);

/**
 * Reads the records of a list. Of two with the same id (or name, if they have no id), the later one is kept.
 * @param name the property that holds the list, or undefined if the reply is the list itself
 * @throws {ApiError} if there is no list
 */
export function parseList<T extends Listable>(
  reply: Reply,
  name: string | undefined,
  record: z.ZodMiniType<T>,
): ParsedList<T> {
  const list = propertyOrWhole(reply.json, name);
  if (!Array.isArray(list)) throw unusableReplyError(reply, 'shape', name ?? 'list');
  if (list.length > MAX_RECORDS) throw unusableReplyError(reply, 'tooLarge', name ?? 'list');
  const items = new Map<string | number, T>();
  const unreadable: UnreadableRecord[] = [];
  for (const value of list) {
    const result = parseOne(value, record);
    if ('data' in result) items.set(itemKey(result.data), result.data);
    else unreadable.push({ id: recordId(value), field: result.field });
  }
  return { items: [...items.values()], unreadable };
}

export const parseListReply = <T extends Listable>(
  reply: Reply,
  name: string,
  record: z.ZodMiniType<T>,
): ListReply<T> => ({
  list: parseList(reply, name, record),
  body: reply.body,
});

/** Returns the readable records of a list; empty if the reply has no such list. */
export const parseOptionalList = <T extends Listable>(
  reply: Reply,
  name: string,
  record: z.ZodMiniType<T>,
): readonly T[] =>
  Array.isArray(propertyOrWhole(reply.json, name)) ? parseList(reply, name, record).items : [];

/** Returns the operations that a change started. */
export const parseOperations = (reply: Reply): readonly Operation[] =>
  parseOptionalList(reply, 'operations', Operation);

/** @param name the property that holds the record, or undefined if the reply is the record itself. @throws {ApiError} */
export function parseRecord<T>(reply: Reply, name: string | undefined, record: z.ZodMiniType<T>): T {
  const result = parseOne(propertyOrWhole(reply.json, name), record);
  if ('data' in result) return result.data;
  const field = [name, result.field].filter((part) => part !== undefined && part !== WHOLE).join('.');
  throw unusableReplyError(reply, 'shape', field || WHOLE);
}
