import assert from 'node:assert/strict';
import { neonctl, NeonctlError } from '../helpers/neonctl.ts';
import { PROJECT } from './sampleProject.ts';
import { useQuietService } from './useQuietService.ts';

describe('neonctl, unmodified', function () {
  this.timeout(60_000);
  const service = useQuietService();
  const run = neonctl(service);
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await run(...args, '--output', 'json')) as T;

  it('shows the account and its organizations', async () => {
    const { login, projects_limit } = await json<Record<string, unknown>>('me');
    assert.deepEqual([login, typeof projects_limit], ['local', 'number']);
    assert.deepEqual(await json('orgs', 'list'), []);
  });

  it('lists projects, with those that are shared, and shows one', async () => {
    type Lists = Readonly<Record<'projects' | 'shared_with_you', readonly { readonly name: string }[]>>;
    const lists = await json<Lists>('projects', 'list');
    assert.deepEqual(
      lists.projects.map(({ name }) => name),
      ['shop', 'analytics', 'playground'],
    );
    assert.deepEqual(lists.shared_with_you, []);
    assert.equal((await json<{ name: string }>('projects', 'get', PROJECT)).name, 'shop');
  });

  it('lists operations', async () => {
    const { operations } = await service().client.restartCompute(PROJECT, 'ep-little-smoke-851426');
    const listed = await json<readonly { readonly id: string }[]>(
      'operations',
      'list',
      '--project-id',
      PROJECT,
    );
    const ids = new Set(listed.map(({ id }) => id));
    for (const { id } of operations) assert(ids.has(id));
  });

  it('creates, lists and revokes API keys', async () => {
    const made = await json<{ id: number; key: string }>('api-keys', 'create', '--name', 'ci');
    assert.match(made.key, /^[0-9a-f]{64}$/);
    assert((await json<readonly { id: number }[]>('api-keys', 'list')).some(({ id }) => id === made.id));
    await run('api-keys', 'revoke', String(made.id));
    const { items } = await service().client.listApiKeys();
    assert(items.every(({ id }) => id !== made.id));
  });

  it('shows the error of the service', async () => {
    await assert.rejects(run('projects', 'get', 'not-there'), (error: Error) => {
      assert(error instanceof NeonctlError);
      assert.match(error.message, /There is no project with the id "not-there"/);
      return true;
    });
  });
});
