import assert from 'node:assert/strict';
import { PUBLIC_BASE_URL } from '../../helpers/publicBaseUrl.ts';
import { Client, type ProjectPage } from '../../../src/api/client.ts';
import { isCancelled, isRejected } from '../../../src/api/transport/errors.ts';
import { PROJECTS_PER_PAGE } from '../../../src/api/paths.ts';
import type { StubReply, StubRequest } from '../../helpers/faultProxy.ts';
import { KEY, withService } from './stubService.ts';

const projects = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `p-${from + index}`, name: 'x' }));

describe('projectPages', () => {
  const collect = async (client: Client, organization?: string) => {
    const pages: ProjectPage[] = [];
    for await (const page of client.projectPages(organization)) pages.push(page);
    return pages;
  };
  const full = (from: number, cursor?: string) => ({
    projects: projects(from, PROJECTS_PER_PAGE),
    pagination: { cursor },
  });
  const inTurn = (...replies: unknown[]): StubReply => {
    let next = 0;
    return () => ({ json: replies[next++] });
  };
  const queries = (seen: StubRequest[]) => seen.map(({ path }) => path.split('?')[1]);

  it('follows the cursor to a short page, even if that has one too', () =>
    withService(
      inTurn(full(0, 'a/b'), { projects: projects(400, 7), pagination: { cursor: 'c' } }),
      async (client, seen) => {
        const pages = await collect(client);
        assert.deepEqual(
          pages.map(({ items }) => items.length),
          [400, 7],
        );
        assert.deepEqual(queries(seen), ['limit=400', 'limit=400&cursor=a%2Fb']);
      },
    ));

  const ends: readonly [string, unknown[], number][] = [
    ['an empty page', [full(0, 'a'), { projects: [], pagination: { cursor: 'b' } }], 2],
    ['a cursor seen before', [full(0, 'a'), full(400, 'b'), full(800, 'a')], 3],
    ['a full page without a cursor', [full(0, 'a'), full(400)], 2],
    ['an empty cursor', [full(0, '')], 1],
    ['a page that lacks one project', [{ projects: projects(0, 399), pagination: { cursor: 'a' } }], 1],
    ['a cursor that is not text', [{ ...full(0), pagination: { cursor: 7 } }], 1],
    ['a page without pagination', [{ projects: projects(0, 400) }], 1],
  ];
  for (const [what, replies, count] of ends) {
    it(`ends with ${what}`, () =>
      withService(inTurn(...replies), async (client, seen) => {
        assert.equal((await collect(client)).length, count);
        assert.equal(seen.length, count);
      }));
  }

  it('counts unavailable and unreadable projects', () =>
    withService(
      inTurn(
        {
          projects: [...projects(0, 397), { id: 'bad' }],
          unavailable_project_ids: ['p-a', '../x'],
          pagination: { cursor: 'a' },
        },
        { projects: [] },
      ),
      async (client) => {
        const [first, second] = await collect(client);
        assert.equal(first?.items.length, 397);
        assert.deepEqual(first?.unreadable, [{ id: 'bad', field: 'name' }]);
        assert.deepEqual(first?.unavailable, ['p-a']);
        assert.ok(second !== undefined);
      },
    ));

  it('sends the id of the organization', () =>
    withService(inTurn({ projects: [] }), async (client, seen) => {
      await collect(client, 'org-a b');
      assert.deepEqual(queries(seen), ['limit=400&org_id=org-a+b']);
    }));

  it('keeps the pages before one that fails', () =>
    withService(
      (request) => (request.path.includes('cursor') ? { status: 500 } : { json: full(0, 'a') }),
      async (client) => {
        const pages: ProjectPage[] = [];
        const all = async () => {
          for await (const page of client.projectPages()) pages.push(page);
        };
        await assert.rejects(all, (error) => isRejected(error, 500));
        assert.equal(pages.length, 1);
      },
    ));

  it('gives up on a service that always has another page', async () => {
    let count = 0;
    const unavailable_project_ids = Array(PROJECTS_PER_PAGE).fill('p');
    const fetch = async () =>
      Response.json({
        projects: [],
        unavailable_project_ids,
        pagination: { cursor: String((count += 1)) },
      });
    const client = new Client({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, retries: 0 });
    await assert.rejects(collect(client), {
      message: 'GET /projects returned too many pages',
      fault: { kind: 'unexpectedReply', status: 200, reason: 'tooLarge', detail: 'pages' },
      mayHaveExecuted: false,
    });
    assert.equal(count, 1000);
  });

  it('gives up on pages that are too large together', async () => {
    let count = 0;
    const filler = 'x'.repeat(10_000_000);
    const page = JSON.stringify({ ...full(0, 'CURSOR'), filler });
    const fetch = async () => new Response(page.replace('CURSOR', String((count += 1))));
    const client = new Client({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, retries: 0 });
    await assert.rejects(collect(client), { message: 'GET /projects returned too many pages' });
    assert.equal(count, 4);
  });

  it('requests no page after it was cancelled', async () => {
    const end = new AbortController();
    let count = 0;
    const fetch = async () => {
      count += 1;
      return Response.json(full(0, 'a'));
    };
    const client = new Client({ baseUrl: PUBLIC_BASE_URL, key: KEY, fetch, retries: 0 });
    const pages = client.projectPages(undefined, { signal: end.signal });
    await pages.next();
    end.abort();
    await assert.rejects(pages.next(), isCancelled);
    assert.equal(count, 1);
  });

  it('requests no page after the caller stops', () =>
    withService(inTurn(full(0, 'a')), async (client, seen) => {
      for await (const page of client.projectPages()) {
        assert.equal(page.items.length, 400);
        break;
      }
      assert.equal(seen.length, 1);
    }));

  it('lists deleted projects of all pages', () => {
    const page = full(0, 'a');
    const deleted = { id: 'p-400', name: 'x', recoverable_until: '2026-01-02T00:00:00Z' };
    return withService(inTurn(page, { projects: [deleted] }), async (client, seen) => {
      assert.deepEqual(
        (await client.listDeletedProjects('org-a')).map(({ id }) => id),
        ['p-400'],
      );
      assert.deepEqual(queries(seen), [
        'limit=400&recoverable=true&org_id=org-a',
        'limit=400&cursor=a&recoverable=true&org_id=org-a',
      ]);
    });
  });
});
