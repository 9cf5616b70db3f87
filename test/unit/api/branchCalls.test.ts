import assert from 'node:assert/strict';
import type { Client } from '../../../src/api/client.ts';
import { withService } from './stubService.ts';

const branch = { id: 'br-dev', name: 'dev', parent_id: 'br-main' };
const operation = { id: '1', project_id: 'shop', action: 'create_branch', status: 'running' };
const compute = {
  id: 'ep-1',
  host: 'ep-1.example',
  project_id: 'shop',
  branch_id: 'br-dev',
  type: 'read_write',
  current_state: 'init',
};
const outcome = { branch, computes: [compute], operations: [operation] };
const json = { branch, endpoints: [compute, { id: 'ep-2' }], operations: [operation], roles: [] };

type Row = readonly [request: string, body: unknown, call: (client: Client) => Promise<unknown>];
const ROWS: readonly Row[] = [
  [
    'POST /projects/shop/branches',
    { branch: { name: 'dev' } },
    ({ branches }) => branches.create('shop', { branch: { name: 'dev' } }),
  ],
  [
    'PATCH /projects/shop/branches/br-dev',
    { branch: { protected: true } },
    ({ branches }) => branches.update('shop', 'br-dev', { protected: true }),
  ],
  ['DELETE /projects/shop/branches/br-dev', undefined, ({ branches }) => branches.delete('shop', 'br-dev')],
  [
    'POST /projects/shop/branches/br-dev/set_as_default',
    undefined,
    ({ branches }) => branches.setDefault('shop', 'br-dev'),
  ],
  [
    'POST /projects/shop/branches/br-dev/restore',
    { source_branch_id: 'br-main' },
    ({ branches }) => branches.restore('shop', 'br-dev', { source_branch_id: 'br-main' }),
  ],
];

describe('BranchCalls', () => {
  for (const [request, body, call] of ROWS)
    it(`sends ${request} and returns the branch, its computes and operations`, () =>
      withService(
        () => ({ json }),
        async (client, seen) => {
          assert.deepEqual(await call(client), outcome);
          const [only] = seen;
          assert.equal(`${only?.method} ${only?.path}`, request);
          assert.deepEqual(only?.body === '' ? undefined : JSON.parse(only?.body ?? ''), body);
        },
      ));

  it('starts a rehearsal and returns what it has seen', () => {
    const rehearsal = { statements: [], locks: [], before: [], after: [] };
    return withService(
      () => ({ json: { rehearsal } }),
      async ({ branches }, seen) => {
        await branches.startRehearsal('shop', 'br-dev');
        assert.deepEqual(await branches.getRehearsal('shop', 'br-dev'), rehearsal);
        const address = '/projects/shop/branches/br-dev/rehearsal';
        assert.deepEqual(
          seen.map(({ method, path }) => `${method} ${path}`),
          [`POST ${address}`, `GET ${address}`],
        );
      },
    );
  });

  it('rejects a rehearsal without its lists', () =>
    withService(
      () => ({ json: { rehearsal: { statements: [] } } }),
      async ({ branches }) => assert.rejects(branches.getRehearsal('shop', 'br-dev'), /no usable rehearsal/),
    ));

  it('creates and deletes projects', () =>
    withService(
      () => ({ json: { project: { id: 'blog', name: 'blog' }, branch, operations: [operation] } }),
      async (client, seen) => {
        const expected = { project: { id: 'blog', name: 'blog' }, operations: [operation] };
        assert.deepEqual(await client.createProject({ name: 'blog', pg_version: 18 }), expected);
        await client.deleteProject('blog');
        const sent = seen.map(({ method, path, body }) => `${method} ${path} ${body}`);
        const created = 'POST /projects {"project":{"name":"blog","pg_version":18}}';
        assert.deepEqual(sent, [created, 'DELETE /projects/blog ']);
      },
    ));

  it('accepts an empty reply to the deletion of a project', () =>
    withService(
      () => ({ status: 204 }),
      (client) => client.deleteProject('blog'),
    ));

  it('returns an empty outcome for a branch that was already deleted', () =>
    withService(
      () => ({ status: 204 }),
      async (client) => {
        const deleted = await client.branches.delete('shop', 'br-dev');
        assert.deepEqual(deleted, { branch: undefined, computes: [], operations: [] });
      },
    ));

  it('lists branches with one request, and returns undefined for the same reply', () =>
    withService(
      () => ({ json: { branches: [branch, { id: 'br-odd' }], annotations: {} } }),
      async (client, seen) => {
        const first = await client.branches.listIfChanged('shop', undefined);
        assert.deepEqual(first?.list, { items: [branch], unreadable: [{ id: 'br-odd', field: 'name' }] });
        assert.equal(await client.branches.listIfChanged('shop', first.body), undefined);
        assert.deepEqual(
          seen.map(({ method, path }) => `${method} ${path}`),
          Array(2).fill('GET /projects/shop/branches?limit=10000'),
        );
      },
    ));

  it('rejects an invalid branch id without sending it', () =>
    withService(
      () => ({ json }),
      async (client, seen) => {
        await assert.rejects(client.branches.delete('shop', 'ep-1'), {
          message: '"ep-1" is not a branch id',
          fault: { kind: 'invalidRequest' },
        });
        assert.deepEqual(seen, []);
      },
    ));
});
