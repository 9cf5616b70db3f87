import assert from 'node:assert/strict';
import { call } from '../helpers/call.ts';
import { startLocalService } from '../helpers/localService.ts';
import { useQuietService } from './useQuietService.ts';

describe('The calls about the account', () => {
  const service = useQuietService();
  const get = (path: string) => call(service().baseUrl, { path, key: service().key });
  const json = async (path: string) => {
    const reply = await get(path);
    assert.equal(reply.status, 200, reply.text);
    return reply.json as Record<string, unknown>;
  };

  it('show one user, who owns the projects and the keys', async () => {
    const { id, plan, max_autoscaling_limit } = await json('/users/me');
    assert.deepEqual([plan, max_autoscaling_limit], ['paid', 10]);
    assert.deepEqual(await json('/auth'), { account_id: id, auth_method: 'api_key_user' });
    const { projects } = await json('/projects');
    for (const { owner_id } of projects as { owner_id: string }[]) assert.equal(owner_id, id);
    const { items } = await service().client.listApiKeys();
    for (const { created_by } of items) assert.equal(Reflect.get(Object(created_by), 'id'), id);
  });

  it('show the organization in which clients list projects, and no shared project', async () => {
    const { organizations } = await json('/users/me/organizations');
    const [first, ...others] = organizations as { id: string }[];
    assert.equal(others.length, 0);
    const { projects } = await json(`/projects?org_id=${first?.id}`);
    assert.deepEqual(projects, (await json('/projects'))['projects']);
    assert.deepEqual(await json('/projects/shared?limit=400&search=x'), { projects: [] });
  });

  it('show no deleted project that could be recovered', async () => {
    assert.deepEqual((await json('/projects?recoverable=true'))['projects'], []);
    assert.notDeepEqual((await json('/projects?recoverable=false'))['projects'], []);
    assert.equal((await get('/projects?recoverable=x')).status, 400);
  });

  it('show the region in which the projects are', async () => {
    const { regions } = await json('/regions?org_id=org-1');
    const ids = (regions as { region_id: string }[]).map(({ region_id }) => region_id);
    const { projects } = await json('/projects');
    for (const { region_id } of projects as { region_id: string }[]) assert.deepEqual(ids, [region_id]);
  });

  it('show the plan and its largest compute', async () => {
    const free = await startLocalService({ postgres: false, args: ['--plan', 'free'] });
    try {
      const reply = await call(free.baseUrl, { path: '/users/me', key: free.key });
      const { plan, max_autoscaling_limit } = reply.json as Record<string, unknown>;
      assert.deepEqual([plan, max_autoscaling_limit], ['free', 0.25]);
    } finally {
      await free.stop();
    }
  });
});
