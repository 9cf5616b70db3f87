/** Query parameters, and the pages of a list: their size and the opaque cursor after which they begin. */
import { badRequest, type HttpError } from '../core/httpError.ts';
import type { ApiCall } from './request.ts';

/** Returns undefined if the parameter is missing or empty. @throws {HttpError} 400 if it is given twice */
export function queryParameter({ query }: Pick<ApiCall, 'query'>, name: string): string | undefined {
  if (query === '') return undefined;
  const values = new URLSearchParams(query).getAll(name);
  if (values.length > 1) throw badRequest(`${name} must be given only once.`);
  return values[0] || undefined;
}

/** @throws {HttpError} 400 if it is missing */
export function requiredParameter(call: ApiCall, name: string): string {
  const value = queryParameter(call, name);
  if (value === undefined) throw badRequest(`${name} is required.`);
  return value;
}

/** Returns false if the parameter is missing. @throws {HttpError} 400 */
export function booleanParameter(call: ApiCall, name: string): boolean {
  const text = queryParameter(call, name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw badRequest(`${name} must be true or false.`);
}

/** Returns the first choice if the parameter is missing. @throws {HttpError} 400 */
export function choiceParameter<T extends string>(
  call: ApiCall,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = queryParameter(call, name) ?? choices[0];
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw badRequest(`${name} must be ${choices.join(' or ')}.`);
  return choice;
}

/** @throws {HttpError} 400 unless `limit` is a whole number from 1 to `max` */
export function pageSize(call: ApiCall, fallback: number, max: number): number {
  const text = queryParameter(call, 'limit');
  if (text === undefined) return fallback;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw badRequest(`limit must be a whole number from 1 to ${max}.`);
  return limit;
}

/** Page sizes of lists of projects. */
export const DEFAULT_PROJECTS = 10;
export const MAX_PROJECTS = 400;

export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** Returns the position that the cursor stands for. @throws {HttpError} 400 */
export function cursorPosition(call: ApiCall): string | undefined {
  const cursor = queryParameter(call, 'cursor');
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (encodeCursor(position) !== cursor) throw unknownCursor();
  return position;
}

export const unknownCursor = (): HttpError => badRequest('cursor does not come from this list.');

/** Like the public service, gives the last page a cursor too: a client recognises it by its length. */
export const paginationAfter = (last: string | undefined): Record<string, unknown> =>
  last === undefined ? {} : { pagination: { cursor: encodeCursor(last) } };
