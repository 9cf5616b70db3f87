/** Where the list of projects ends (public service): it is told by the pages themselves, and not always the same way. */
import type { Reply } from './http.ts';
import { isId } from './ids.ts';
import { MAX_RECORDS, property } from './reading.ts';

/** Projects per page: the public service's maximum. */
export const PROJECTS_PER_PAGE = 400;

/** Ids the service knows but has no details of just now. */
export function unavailableIds(reply: Reply): readonly string[] {
  const ids = property(reply.json, 'unavailable_project_ids');
  return Array.isArray(ids) ? [...new Set(ids.slice(0, MAX_RECORDS).filter(isId))] : [];
}

const count = (reply: Reply, name: string): number => {
  const list = property(reply.json, name);
  return Array.isArray(list) ? list.length : 0;
};

/**
 * The cursor of the page after this one. The last page may carry a cursor too: a short page, or a cursor seen before,
 * is the end.
 * @param seen the cursors of the pages so far
 */
export function nextCursor(reply: Reply, seen: ReadonlySet<string>): string | undefined {
  const cursor = property(property(reply.json, 'pagination'), 'cursor');
  if (typeof cursor !== 'string' || cursor === '' || seen.has(cursor)) return undefined;
  const listed = count(reply, 'projects') + count(reply, 'unavailable_project_ids');
  return listed < PROJECTS_PER_PAGE ? undefined : cursor;
}
