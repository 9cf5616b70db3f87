/** The cursor of the next page of projects. This file has no imports that the npm package doesn't load. */
import { fieldsOf } from '../base/fieldsOf.ts';
import { PROJECTS_PER_PAGE } from './paths.ts';

/**
 * Returns the cursor of the next page; undefined after the last one. The last page may have a cursor too, so a page that isn't full or a
 * repeated cursor is also the end.
 * @param page a reply of `GET /projects` @param seen the cursors before
 */
export function nextCursor(page: unknown, seen: ReadonlySet<string>): string | undefined {
  const { pagination, projects, unavailable_project_ids: unavailable } = fieldsOf(page);
  const { cursor } = fieldsOf(pagination);
  if (typeof cursor !== 'string' || cursor === '' || seen.has(cursor)) return undefined;
  const listed = [projects, unavailable].flatMap((list) => (Array.isArray(list) ? list : []));
  return listed.length < PROJECTS_PER_PAGE ? undefined : cursor;
}
