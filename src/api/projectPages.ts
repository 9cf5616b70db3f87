/** The list of projects, page by page. */
import { fieldsOf } from '../base/fieldsOf.ts';
import { ApiError } from './transport/errors.ts';
import { isId } from './records/ids.ts';
import { MAX_RECORDS, parseList, type ParsedList } from './transport/parseResponse.ts';
import { nextCursor } from './nextCursor.ts';
import { MAX_BODY_BYTES } from './transport/request.ts';
import { Project } from './records/records.ts';
import type { Reply } from './transport/http.ts';

/** More pages than any account has. This ends the loop if a service always returns a next page. */
const MAX_PAGES = 1000;

/** One page of the list of projects, in the service's order. */
export interface ProjectPage extends ParsedList<Project> {
  /** The ids of projects whose details the service cannot return at the moment. */
  readonly unavailable: readonly string[];
}

/**
 * Requests the pages of the list one after the other. The size limit of a list applies to all pages together.
 * @param get requests the page at a cursor
 */
export async function* projectPages(
  get: (cursor: string | undefined) => Promise<Reply>,
): AsyncGenerator<ProjectPage, void> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let length = 0;
  do {
    if (seen.size >= MAX_PAGES) throw tooManyPages();
    const reply = await get(cursor);
    length += reply.body.length;
    if (length > MAX_BODY_BYTES) throw tooManyPages();
    yield { ...parseList(reply, 'projects', Project), unavailable: unavailableIds(reply) };
    cursor = nextCursor(reply.json, seen);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}

/** The only page for a key of one project. */
export async function* onlyProject(project: Promise<Project>): AsyncGenerator<ProjectPage, void> {
  yield { items: [await project], unreadable: [], unavailable: [] };
}

function unavailableIds(reply: Reply): readonly string[] {
  const { unavailable_project_ids: ids } = fieldsOf(reply.json);
  return Array.isArray(ids) ? [...new Set(ids.slice(0, MAX_RECORDS).filter(isId))] : [];
}

const tooManyPages = (): ApiError =>
  new ApiError(
    'GET /projects returned too many pages',
    { kind: 'unexpectedReply', status: 200, reason: 'tooLarge', detail: 'pages' },
    { mayHaveExecuted: false },
  );
