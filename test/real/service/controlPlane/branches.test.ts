import assert from 'node:assert/strict';
import { branchCalls, type Api, type Branch } from '../../../helpers/branchCalls.ts';
import { endOperations, startInProcess, type InProcess } from '../inProcess.ts';
import { BRANCHES, CHECKOUT, CHECKOUT_PRIMARY, FREE, MAIN, MAIN_PRIMARY, PROJECT } from './sampleProject.ts';

const DELAY = 1_000;
const PRIMARY = { type: 'read_write' };

interface Shown {
  readonly annotation: { readonly object: { readonly id: string }; readonly value: object };
}

interface Page {
  readonly branches: readonly Branch[];
  readonly annotations: object;
  readonly pagination: { readonly next?: string };
}

describe('Branches', () => {
  let test: InProcess;
  let api: Api;
  const start = async () => {
    test = await startInProcess({ operationDelay: DELAY });
    api = branchCalls(test);
    await settle();
    test.engine.calls.length = 0;
  };
  const settle = () => endOperations(test, PROJECT, DELAY);
  const find = async (id: string) => (await api.branches(PROJECT)).find((each) => each.id === id);
  const create = async (branch: object = {}, ...endpoints: object[]) => {
    const created = await api.send('POST', BRANCHES, { branch, endpoints });
    await settle();
    return created;
  };
  const inSeconds = (seconds: number) => new Date(test.clock.now() + seconds * 1000).toISOString();

  beforeEach(() => start());

  it('are listed by name or age, in pages, and found by a part of their name or id', async () => {
    const names = async (query: string) =>
      (await api.send<Page>('GET', `${BRANCHES}?${query}`)).branches.map(({ name }) => name);
    const sorted = ['before-migration', 'checkout-rewrite', 'main'];
    assert.deepEqual(await names('sort_by=name&sort_order=asc'), sorted);
    assert.deepEqual(await names('sort_by=name'), sorted.toReversed());
    assert.deepEqual(await names('search=ECK'), ['checkout-rewrite']);
    assert.deepEqual(await names('search=frosty'), ['before-migration']);
    const count = async (search: string) =>
      (await api.send<{ count: number }>('GET', `${BRANCHES}/count?search=${search}`)).count;
    assert.deepEqual([await count('ECK'), await count('frosty'), await count('')], [1, 0, 3]);
    const query = 'sort_by=name&sort_order=asc&limit=2';
    const first = await api.send<Page>('GET', `${BRANCHES}?${query}`);
    assert.deepEqual(first.annotations, {});
    assert.deepEqual(await names(`${query}&cursor=${first.pagination.next}`), ['main']);
    await api.send('PATCH', `${BRANCHES}/${FREE}`, { branch: { name: 'newest' } });
    assert.equal((await names(''))[0], 'newest');
  });

  it('come once if one is renamed between two pages', async () => {
    const all = (await api.branches(PROJECT)).map(({ id }) => id);
    const { pagination } = await api.send<Page>('GET', `${BRANCHES}?limit=2`);
    await api.send('PATCH', `${BRANCHES}/${all[1]}`, { branch: { name: 'renamed' } });
    const rest = (await api.send<Page>('GET', `${BRANCHES}?cursor=${pagination.next}`)).branches;
    assert.deepEqual(
      rest.map(({ id }) => id),
      all.slice(2),
    );
  });

  it('are created from the default branch, and locked until they have data, but have connection strings', async () => {
    const created = await api.send('POST', BRANCHES, { endpoints: [PRIMARY] });
    const { id } = created.branch;
    assert.deepEqual([created.branch.name, created.branch.parent_id], [id, MAIN]);
    assert.deepEqual([created.branch.current_state, created.branch.default], ['init', false]);
    assert.deepEqual(
      created.roles.map(({ name }) => name),
      ['owner'],
    );
    assert.equal(created.connection_uris.length, 1);
    await api.send('POST', BRANCHES, { branch: { parent_id: id } }, 423);
    const endpoint = { type: 'read_only', branch_id: id };
    await api.send('POST', `/${PROJECT}/endpoints`, { endpoint }, 423);
    await api.send('DELETE', `${BRANCHES}/${id}`, undefined, 423);
    await api.send('DELETE', `/${PROJECT}`, undefined, 423);
    const names = `branch_id=${id}&role_name=owner&database_name=${created.databases[0]?.name}`;
    const { uri } = await api.send<{ uri: string }>('GET', `/${PROJECT}/connection_uri?${names}`);
    assert.equal(uri, api.uri(created));
    await api.send('GET', `${BRANCHES}/${id}/schema?db_name=${created.databases[0]?.name}`, undefined, 423);
    await settle();
    assert.equal((await find(id))?.current_state, 'ready');
    const compute = created.endpoints[0]?.id;
    assert.deepEqual(test.engine.calls, [
      `attach ${compute}`,
      `createBranch ${id} of ${MAIN}`,
      `attach ${compute}`,
      `start ${compute}`,
    ]);
  });

  it('are created without a body', async () => {
    await api.send('POST', BRANCHES);
    await settle();
  });

  it('keep the annotation that they were created with', async () => {
    const value = { 'pull-request': '7' };
    const { branch } = await api.send('POST', BRANCHES, { annotation_value: value });
    await settle();
    const { annotation } = await api.send<Shown>('GET', `${BRANCHES}/${branch.id}`);
    assert.deepEqual([annotation.object.id, annotation.value], [branch.id, value]);
    assert.deepEqual((await api.send<Shown>('GET', `${BRANCHES}/${MAIN}`)).annotation.value, {});
    const { annotations } = await api.send<Page>('GET', BRANCHES);
    assert.deepEqual(annotations, { [branch.id]: annotation });
  });

  it('are created with connection URIs if there is only one role', async () => {
    const { catalog } = test.engine;
    const roles = ['owner', 'reader'].map((name) => ({ name, canLogin: true }));
    test.engine.catalog = async (id) => ({ ...(await catalog(id)), roles });
    const created = await create({}, PRIMARY);
    assert.deepEqual(
      created.roles.map((role) => [role.name, 'password' in role]),
      [
        ['owner', false],
        ['reader', false],
      ],
    );
    assert.deepEqual(created.connection_uris, []);
  });

  it('are gone with their computes if their data cannot be copied', async () => {
    test.engine.fail('createBranch', 'the disk is full');
    const { branch, endpoints, operations } = await create({ name: 'lost' }, PRIMARY);
    assert.equal(await find(branch.id), undefined);
    const { items } = await test.client.listComputes(PROJECT);
    assert(!items.some(({ id }) => id === endpoints[0]?.id));
    assert(test.engine.calls.includes(`remove ${endpoints[0]?.id}`));
    const after = await Promise.all(operations.map(({ id }) => test.client.findOperation(PROJECT, id)));
    assert.deepEqual(
      after.map((each) => [each?.status, each?.error]),
      [
        ['failed', 'the disk is full'],
        ['skipped', undefined],
      ],
    );
  });

  const wrong: Readonly<
    Record<string, readonly [method: string, path: string, body: object, status: number]>
  > = {
    'an unknown parent': ['POST', '', { branch: { parent_id: 'br-none' } }, 404],
    'a name that is in use': ['POST', '', { branch: { name: 'main' } }, 409],
    'an empty name': ['POST', '', { branch: { name: '' } }, 422],
    'an unknown attribute': ['POST', '', { branch: { colour: 'red' } }, 400],
    'a position in the history': ['POST', '', { branch: { parent_lsn: '0/1' } }, 422],
    'a time in the history': ['POST', '', { branch: { parent_timestamp: '2026-01-01T00:00:00Z' } }, 422],
    'a copy of something else': ['POST', '', { branch: { init_source: 'rows' } }, 422],
    'two primary computes': ['POST', '', { endpoints: [PRIMARY, PRIMARY] }, 422],
    'a compute of no size': ['POST', '', { endpoints: [{ ...PRIMARY, autoscaling_limit_max_cu: 0.3 }] }, 422],
    'a time of expiry in the past': ['POST', '', { branch: { expires_at: '2001-01-01T00:00:00Z' } }, 422],
    'no time as a time of expiry': ['POST', '', { branch: { expires_at: 'soon' } }, 400],
    'the name of another branch': ['PATCH', `/${FREE}`, { branch: { name: 'main' } }, 409],
    'a time of expiry for the default branch': [
      'PATCH',
      `/${MAIN}`,
      { branch: { expires_at: 'TOMORROW' } },
      422,
    ],
    'deleting the default branch': ['DELETE', `/${MAIN}`, {}, 422],
    'restoring from itself': ['POST', `/${FREE}/restore`, { source_branch_id: FREE }, 422],
    'restoring a parent without preserving it': ['POST', `/${MAIN}/restore`, { source_branch_id: FREE }, 422],
    'restoring from an unknown branch': ['POST', `/${FREE}/restore`, { source_branch_id: 'br-none' }, 404],
    'setting an unknown branch as default': ['POST', '/br-none/set_as_default', {}, 404],
  };
  for (const [what, [method, path, body, status]] of Object.entries(wrong)) {
    it(`reject ${what} with ${status}, and change nothing`, async () => {
      const before = await api.branches(PROJECT);
      const text = JSON.stringify(body).replace('TOMORROW', inSeconds(86_400));
      const reply = await api.send<{ code: string; message: string }>(
        method,
        BRANCHES + path,
        JSON.parse(text),
        status,
      );
      assert(reply.code.length > 0 && reply.message.length > 0);
      assert.deepEqual(await api.branches(PROJECT), before);
      assert.deepEqual(test.engine.calls, []);
    });
  }

  it('are deleted with their computes, but not while they are protected or have children', async () => {
    const { branch } = await create({ parent_id: CHECKOUT });
    await api.send('DELETE', `${BRANCHES}/${CHECKOUT}`, undefined, 422);
    await api.send('DELETE', `${BRANCHES}/${branch.id}`);
    await settle();
    await api.send('PATCH', `${BRANCHES}/${CHECKOUT}`, { branch: { protected: true } });
    await api.send('DELETE', `${BRANCHES}/${CHECKOUT}`, undefined, 422);
    await api.send('DELETE', `/${PROJECT}/endpoints/${CHECKOUT_PRIMARY}`, undefined, 422);
    await api.send('DELETE', `/${PROJECT}`, undefined, 422);
    await api.send('PATCH', `${BRANCHES}/${CHECKOUT}`, { branch: { protected: false } });
    test.engine.calls.length = 0;
    await api.send('DELETE', `${BRANCHES}/${CHECKOUT}`);
    await settle();
    assert.equal(await find(CHECKOUT), undefined);
    const calls = [`remove ${CHECKOUT_PRIMARY}`, `deleteBranch ${CHECKOUT}`];
    assert.deepEqual(test.engine.calls, calls);
    await api.send('DELETE', `${BRANCHES}/${CHECKOUT}`, undefined, 204);
  });

  it('have one default', async () => {
    await api.send('POST', `${BRANCHES}/${CHECKOUT}/set_as_default`, undefined, 200);
    const defaults = (await api.branches(PROJECT)).filter((branch) => branch.default);
    assert.equal(String(defaults.map(({ id }) => id)), CHECKOUT);
  });

  it('are restored while their active computes are suspended, and give their children to what is preserved', async () => {
    const body = { source_branch_id: CHECKOUT, preserve_under_name: 'old main' };
    const reset = await api.send('POST', `${BRANCHES}/${MAIN}/restore`, body, 200);
    assert.deepEqual(
      reset.operations.map(({ action }) => action),
      ['suspend_compute', 'create_branch', 'start_compute'],
    );
    await api.send('POST', `/${PROJECT}/endpoints/${MAIN_PRIMARY}/restart`, undefined, 423);
    await settle();
    assert.deepEqual(test.engine.calls, [
      `suspend ${MAIN_PRIMARY}`,
      `restoreBranch ${MAIN} from ${CHECKOUT}`,
      `attach ${MAIN_PRIMARY}`,
      `start ${MAIN_PRIMARY}`,
    ]);
    const preserved = (await api.branches(PROJECT)).find(({ name }) => name === 'old main');
    assert.deepEqual([preserved?.parent_id, preserved?.default], [undefined, false]);
    assert.equal((await find(CHECKOUT))?.parent_id, preserved?.id);
    assert.deepEqual([(await find(MAIN))?.parent_id, (await find(MAIN))?.default], [CHECKOUT, true]);
  });

  it('are as before if they cannot be restored', async () => {
    const before = await api.branches(PROJECT);
    test.engine.fail('restoreBranch', 'the disk is full');
    const body = { source_branch_id: CHECKOUT, preserve_under_name: 'old main' };
    await api.send('POST', `${BRANCHES}/${MAIN}/restore`, body, 200);
    await settle();
    const after = await api.branches(PROJECT);
    const shape = ({ id, parent_id, current_state }: Branch) => `${id} ${parent_id} ${current_state}`;
    assert.deepEqual(after.map(shape).toSorted(), before.map(shape).toSorted());
    const { items } = await test.client.listComputes(PROJECT);
    const compute = items.find(({ id }) => id === MAIN_PRIMARY);
    assert.deepEqual([compute?.current_state, compute?.pending_state], ['idle', undefined]);
  });

  it('and their project count the time that computes are active', async () => {
    type Usage = { readonly active_time_seconds: number };
    const used = async () => {
      const { branch } = await api.send<{ branch: Usage }>('GET', `${BRANCHES}/${MAIN}`);
      const { project } = await api.send<{ project: Usage }>('GET', `/${PROJECT}`);
      return [branch.active_time_seconds, project.active_time_seconds];
    };
    const [branch = 0, project = 0] = await used();
    test.clock.advance(20_000);
    assert.deepEqual(await used(), [branch + 20, project + 20]);
    test.clock.advance(40_000);
    assert.deepEqual(await used(), [branch + 60, project + 60]);
  });
});
