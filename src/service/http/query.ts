/** Reads query parameters, searches lists and divides them into pages. */
import { badRequest } from '../core/serviceErrors.ts';
import * as z from 'zod/mini';
import { validateBody, type ApiCall } from './readRequest.ts';

/** Returns undefined if the parameter is missing or empty. @throws {HttpError} 400 if it is given twice */
export function queryParameter({ query }: Pick<ApiCall, 'query'>, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw badRequest(`${name} must be given only once.`);
  return values[0] || undefined;
}

/** Returns a parameter. @throws {HttpError} 400 if it is missing */
export function requiredParameter(call: ApiCall, name: string): string {
  const value = queryParameter(call, name);
  if (value === undefined) throw badRequest(`${name} is required.`);
  return value;
}

/** Returns false if the parameter is missing. @throws {HttpError} 400 */
export const booleanParameter = (call: ApiCall, name: string): boolean =>
  choiceParameter(call, name, ['false', 'true']) === 'true';

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

/** Returns all parameters. @throws {HttpError} if one is unknown, wrong or given twice */
export function readQuery<T>(call: ApiCall, schema: z.ZodMiniType<T>): T {
  const names = [...new Set(call.query.keys())];
  return validateBody(Object.fromEntries(names.map((name) => [name, queryParameter(call, name)])), schema);
}

/** Returns how many records have a name that contains the parameter `search`. Ids don't count, unlike in lists. */
export function countByName(call: ApiCall, records: Iterable<{ readonly name: string }>): number {
  const text = queryParameter(call, 'search')?.toLowerCase() ?? '';
  return [...records].filter(({ name }) => name.toLowerCase().includes(text)).length;
}

/** Returns the records whose name or id contains the parameter `search`. */
export function filterBySearch<T extends { readonly id: string; readonly name: string }>(
  call: ApiCall,
  records: readonly T[],
): readonly T[] {
  const text = queryParameter(call, 'search')?.toLowerCase();
  if (text === undefined) return records;
  return records.filter(({ id, name }) => name.toLowerCase().includes(text) || id.includes(text));
}

interface PageLimits {
  readonly default: number;
  readonly max: number;
}

export const PROJECT_PAGE_LIMITS: PageLimits = { default: 10, max: 400 };

interface ListOrder<T> {
  /** Returns the text by which records are sorted. Records with the same text stay in the order of the list. */
  readonly key: (record: T) => string;
  readonly isDescending?: boolean;
}

/** Sorts the oldest record first. */
export const OLDEST_FIRST: ListOrder<{ readonly id: string; readonly created_at: string }> = {
  key: ({ id, created_at }) => `${created_at}\0${id}`,
};

/**
 * Returns the page for the parameters `limit` and `cursor`. A cursor has the id and sort key of the record before the page, so
 * that the page is found even if that record was deleted or moved. The cursor of the next page is undefined only if the list is
 * empty.
 * @throws {HttpError} 400
 */
export function paginate<T extends { readonly id: string }>(
  call: ApiCall,
  records: readonly T[],
  limits: PageLimits,
  { key, isDescending = false }: ListOrder<T>,
) {
  const text = queryParameter(call, 'cursor');
  const limit = pageSize(call, limits);
  const compareInOrder = (a: string, b: string) => (a === b ? 0 : a < b !== isDescending ? -1 : 1);
  const sorted = records.toSorted((a, b) => compareInOrder(key(a), key(b)));
  const list = nameOfList(call);
  const start = text === undefined ? 0 : indexAfterCursor(parseCursor(text, list));
  const page = sorted.slice(start, start + limit);
  const last = page.at(-1);
  const cursor = last === undefined ? text : formatCursor([last.id, key(last), list]);
  return { records: page, cursor, isLast: start + limit >= sorted.length };

  function indexAfterCursor([id, position]: Cursor): number {
    const index = sorted.findIndex((record) => record.id === id && key(record) === position);
    if (index >= 0) return index + 1;
    const next = sorted.findIndex((record) => compareInOrder(key(record), position) > 0);
    return next >= 0 ? next : sorted.length;
  }
}

/** The id and sort key of a record, and the list that it is from. */
const Cursor = z.tuple([z.string(), z.string(), z.string()]);
type Cursor = z.infer<typeof Cursor>;

const formatCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64url');

/**
 * Returns the path and order of a list. A record of another list, or its place in another order, would be taken for the end of
 * this one.
 */
const nameOfList = ({ request, query }: ApiCall): string =>
  [request.url?.split('?', 1)[0], query.get('sort_by'), query.get('sort_order')].join(' ');

/** @throws {HttpError} 400 if the cursor isn't from a page of the list */
function parseCursor(text: string, list: string): Cursor {
  try {
    const cursor = z.parse(Cursor, JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (cursor[2] === list) return cursor;
  } catch {
    // The text isn't a cursor of this service.
  }
  throw badRequest('cursor does not come from this list in this order.');
}

function pageSize(call: ApiCall, limits: PageLimits): number {
  const text = queryParameter(call, 'limit');
  if (text === undefined) return limits.default;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limits.max)
    throw badRequest(`limit must be a whole number from 1 to ${limits.max}.`);
  return limit;
}

/**
 * Returns the field with the cursor of the next page. The last page has one, too, as on the public service: a client recognizes it by
 * its length.
 */
export const paginationField = ({
  cursor,
}: {
  readonly cursor: string | undefined;
}): { readonly pagination?: object } => (cursor === undefined ? {} : { pagination: { cursor } });
