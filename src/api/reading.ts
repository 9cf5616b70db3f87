/**
 * From a reply to records. One record that cannot be read never takes the others with it: a list tells what it
 * could read and, beside it, what it could not and why.
 */
import type * as z from 'zod/mini';
import { ApiError } from './errors.ts';
import type { Reply } from './http.ts';

/** A record that is there but not as specified: its id where it has one, and the first field that is wrong. */
export interface UnreadableRecord {
  readonly id: string | undefined;
  readonly field: string;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly UnreadableRecord[];
}

const wrongShape = (what: string, reply: Reply, field: string): ApiError =>
  new ApiError(`${what} answered without a usable ${field}`, {
    kind: 'unexpectedReply',
    status: reply.status,
    reason: 'shape',
    detail: field,
  });

const property = (value: unknown, name: string | undefined): unknown => {
  if (name === undefined) return value;
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
};

const firstField = (error: z.core.$ZodError): string => error.issues[0]?.path.join('.') || 'record';

const idOf = (value: unknown): string | undefined => {
  const id = property(value, 'id');
  return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, 80) : undefined;
};

/** @param name the property that holds the list, or undefined when the reply is the list. @throws {ApiError} when there is no list */
export function readEach<T>(
  what: string,
  reply: Reply,
  name: string | undefined,
  record: z.ZodMiniType<T>,
): Listed<T> {
  const list = property(reply.json, name);
  if (!Array.isArray(list)) throw wrongShape(what, reply, name ?? 'list');
  const items: T[] = [];
  const unreadable: UnreadableRecord[] = [];
  for (const value of list) {
    const result = record.safeParse(value);
    if (result.success) items.push(result.data);
    else unreadable.push({ id: idOf(value), field: firstField(result.error) });
  }
  return { items, unreadable };
}

/** @param name the property that holds the record, or undefined when the reply is the record. @throws {ApiError} */
export function readOne<T>(
  what: string,
  reply: Reply,
  name: string | undefined,
  record: z.ZodMiniType<T>,
): T {
  const result = record.safeParse(property(reply.json, name));
  if (result.success) return result.data;
  const field = firstField(result.error);
  throw wrongShape(what, reply, name === undefined ? field : `${name}.${field}`);
}
