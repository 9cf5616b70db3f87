/** Where the list of projects ends (public service): it is told by the pages themselves, and not always the same way. */
import { setImmediate as turn } from 'node:timers/promises';
import { ApiError } from './errors.ts';
import type { Reply } from './transport/http.ts';
import { isId } from './records/ids.ts';
import { MAX_RECORDS, property } from './records/parseResponse.ts';

/** Projects per page: the public service's maximum. */
export const PROJECTS_PER_PAGE = 400;

/** Ends a list of a service that has a next page for ever; far beyond any account. */
const MAX_PAGES = 1000;

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

/**
 * The replies with all pages, in order.
 * @param ahead asks for the next page as soon as it is known to be there, before the one at hand is given: the service
 * works on it meanwhile. Otherwise no page is asked for that nobody wants. @throws what `ask` threw, in its page's place
 */
export async function* pageReplies(
  ask: (cursor: string | undefined) => Promise<Reply>,
  ahead: boolean,
): AsyncGenerator<Reply, void> {
  const seen = new Set<string>();
  let asked = ask(undefined);
  for (;;) {
    const reply = await asked;
    const cursor = nextCursor(reply, seen);
    if (cursor !== undefined) seen.add(cursor);
    const hasNext = cursor !== undefined && seen.size < MAX_PAGES;
    if (ahead && hasNext) {
      asked = ask(cursor);
      // Told in its turn; whoever ends before never hears of it.
      asked.catch(() => undefined);
      // The request is on its way at the next turn of the event loop, not sooner.
      await turn();
    }
    yield reply;
    if (cursor === undefined) return;
    if (!hasNext) throw tooMany();
    if (!ahead) asked = ask(cursor);
  }
}

const tooMany = (): ApiError =>
  new ApiError(
    'GET /projects answered with too many pages',
    { kind: 'unexpectedReply', status: 200, reason: 'tooLarge', detail: 'pages' },
    { mayHaveExecuted: false },
  );
