import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { call } from '../../../helpers/call.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { startInProcess, type InProcess } from '../inProcess.ts';

interface Page {
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  readonly pagination?: { readonly cursor: string };
}

/** Returns an account whose computes are on separate branches. */
const bigAccount = (projects: number, computes: number) => ({
  projects: Array.from({ length: projects }, (_, p) => ({
    id: `project-${p}`,
    name: `Project ${p}`,
    branches: Array.from({ length: computes }, (__, c) => ({
      id: `br-${p}-${c}`,
      computes: [{ id: `ep-${p}-${c}`, type: 'read_write' }],
    })),
  })),
});

function startWith(account: unknown): Promise<InProcess> {
  const projectsFile = path.join(temporaryFolder(), 'projects.json');
  const isText = typeof account === 'string' || account instanceof Buffer;
  writeFileSync(projectsFile, isText ? account : JSON.stringify(account));
  return startInProcess({ projectsFile });
}

const get = ({ service, key }: InProcess, target: string) => call(service.baseUrl, { path: target, key });

describe('Projects', () => {
  describe('of the sample account', () => {
    let test: InProcess;
    before(async () => {
      test = await startInProcess();
    });

    it('have the user as owner, usage in whole seconds, and the size of branches also in bytes', async () => {
      const { projects } = (await get(test, '/projects')).json as { projects: Record<string, unknown>[] };
      const { id: user } = (await get(test, '/users/me')).json as { id: string };
      assert(projects.length >= 3);
      for (const project of projects) {
        assert.equal(project['owner_id'], user);
        assert(Number.isInteger(project['cpu_used_sec']) && Number.isInteger(project['active_time']));
        const bytes = Number(project['branch_logical_size_limit']) * 1024 ** 2;
        assert.equal(project['branch_logical_size_limit_bytes'], bytes);
      }
    });

    it('have the version of Postgres', async () => {
      const { value } = await test.client.projectPages().next();
      assert.deepEqual(new Set(value?.items.map(({ pg_version }) => pg_version)), new Set([17]));
    });

    it('can be read one by one', async () => {
      const { json } = await get(test, '/projects/shiny-wind-028834');
      assert.equal((json as { project: { name: string } }).project.name, 'shop');
      assert.equal((await get(test, '/projects/no-such-project')).status, 404);
      assert.equal((await get(test, '/projects/%2e%2e%2fx')).status, 404);
    });

    it('are found by a part of their name or id', async () => {
      const { projects } = (await get(test, '/projects?search=ANALY')).json as Page;
      assert.deepEqual(
        projects.map(({ name }) => name),
        ['analytics'],
      );
      assert.deepEqual(((await get(test, '/projects?search=zzz')).json as Page).projects, []);
      assert.equal(((await get(test, '/projects?org_id=org-1')).json as Page).projects.length, 3);
    });

    it('include no deleted project that could be recovered', async () => {
      assert.deepEqual(((await get(test, '/projects?recoverable=true')).json as Page).projects, []);
      assert.equal(((await get(test, '/projects?recoverable=false')).json as Page).projects.length, 3);
      assert.equal((await get(test, '/projects?recoverable=x')).status, 400);
    });
  });

  describe('pages', () => {
    let test: InProcess;
    before(async () => {
      test = await startWith(bigAccount(25, 0));
    });
    const page = async (query = '') => (await get(test, `/projects${query}`)).json as Page;

    it('have ten projects each by default, in the order of the account', async () => {
      const first = await page();
      assert.equal(first.projects.length, 10);
      const second = await page(`?cursor=${first.pagination?.cursor}`);
      assert.equal(second.projects[0]?.id, 'project-10');
    });

    it('follow a project that was deleted', async () => {
      const account = await startWith(bigAccount(4, 0));
      const pageOf = async (query: string) => (await get(account, `/projects?limit=2${query}`)).json as Page;
      const first = await pageOf('');
      await call(account.service.baseUrl, {
        method: 'DELETE',
        path: '/projects/project-1',
        key: account.key,
      });
      const { projects } = await pageOf(`&cursor=${first.pagination?.cursor}`);
      assert.deepEqual(
        projects.map(({ id }) => id),
        ['project-2', 'project-3'],
      );
      await account.stop();
    });

    it('end with a short page that has a cursor, followed by an empty one', async () => {
      const last = await page(`?limit=20&cursor=${(await page('?limit=20')).pagination?.cursor}`);
      assert.equal(last.projects.length, 5);
      const behind = await page(`?cursor=${last.pagination?.cursor}`);
      assert.deepEqual(behind.projects, []);
      assert.equal(behind.pagination?.cursor, last.pagination?.cursor);
    });

    for (const query of ['limit=0', 'limit=401', 'limit=1.5', 'cursor=nope', 'cursor=WzFd']) {
      it(`reply 400 to ?${query}`, async () => {
        assert.equal((await get(test, `/projects?${query}`)).status, 400);
      });
    }
  });

  it('can number five thousand, with twenty thousand computes', async () => {
    const test = await startWith(bigAccount(5_000, 4));
    let count = 0;
    for await (const { items } of test.client.projectPages()) count += items.length;
    assert.equal(count, 5_000);
    assert.equal((await test.client.listComputes('project-4999')).items.length, 4);
    await test.stop();
  });

  const project = (more: object) => ({ projects: [{ id: 'p', name: 'P', ...more }] });
  const branch = (...computes: object[]) => project({ branches: [{ id: 'br-a', computes }] });
  const replica = { id: 'ep-x', type: 'read_only' };
  const [first, second] = ['br-a', 'br-b'].map((id) => ({ id, default: true }));
  const broken: Record<string, readonly [unknown, RegExp]> = {
    'text that is not JSON': ['{', /it is not JSON/],
    'a field of the wrong type': [project({ name: 1 }), /projects\.0\.name/],
    'an unknown field': [{ projects: [], extra: 1 }, /extra/],
    'two primaries': [branch({ type: 'read_write' }, { type: 'read_write' }), /already has a primary/],
    'an invalid size': [
      branch({ ...replica, autoscaling_limit_min_cu: 3.5 }),
      /compute ep-x of branch br-a: .* must each be one of/,
    ],
    'a provisioner other than that of the project': [
      branch({ type: 'read_only', provisioner: 'other' }),
      /a compute of branch br-a: provisioner must be/,
    ],
    'two default branches': [project({ branches: [first, second] }), /two default branches in project p/],
    'a time of another zone': [project({ created_at: '2026-01-01T00:00:00+02:00' }), /must be a time in UTC/],
    'negative usage': [project({ cpu_used_sec: -1 }), /cpu_used_sec: must not be negative/],
    'the same project twice': [
      { projects: [...project({}).projects, ...project({}).projects] },
      /two projects p/,
    ],
    'the same compute twice': [branch(replica, replica), /two computes ep-x/],
    'the same branch twice': [
      { projects: ['p', 'q'].map((id) => ({ id, name: id, branches: [{ id: 'br-a' }] })) },
      /two branches br-a/,
    ],
  };
  for (const [what, [account, message]] of Object.entries(broken)) {
    it(`are not read from a file with ${what}`, async () => {
      await assert.rejects(startWith(account), { name: 'StartError', message });
    });
  }

  it('are read from a file with a byte order mark, but not in another encoding', async () => {
    const latin = Buffer.from('{ "projects": [{ "id": "p", "name": "Größe" }] }', 'latin1');
    await assert.rejects(startWith(latin), /utf-8/);
    await (await startWith('\uFEFF{ "projects": [] }')).stop();
  });

  it('have their first branch as the default if the file names none', async () => {
    const branches = [{ id: 'br-a', default: false }, { id: 'br-b' }];
    const test = await startWith(project({ branches }));
    const { json } = await get(test, '/projects/p/branches?sort_by=name&sort_order=asc');
    await test.stop();
    const listed = (json as { branches: { id: string; default: boolean }[] }).branches;
    assert.deepEqual(
      listed.map((each) => each.default),
      [true, false],
    );
  });
});
