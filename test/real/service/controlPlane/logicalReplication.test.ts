/** `enable_logical_replication` in the settings of a project. */
import assert from 'node:assert/strict';
import { call } from '../../../helpers/call.ts';
import { endOperations, operationsOf, settled, useInProcess } from '../inProcess.ts';
import { PROJECT } from './sampleProject.ts';

const ACTIVE = 'ep-little-smoke-851426';
const IDLE = 'ep-purple-water-204912';

interface Reply {
  readonly project: { readonly settings?: object };
  readonly operations: readonly { readonly action: string; readonly endpoint_id: string }[];
}

describe('Logical replication of a project', () => {
  const test = useInProcess();
  const send = async (method: string, path: string, project: object) =>
    call(test().service.baseUrl, { method, path, key: test().key, body: { project } });
  const turn = async (isOn: boolean) =>
    send('PATCH', `/projects/${PROJECT}`, { settings: { enable_logical_replication: isOn } });

  beforeEach(async () => {
    await settled(test(), ACTIVE, 'active');
    await endOperations(test(), PROJECT);
  });

  it('is turned on by a restart of the computes that run', async () => {
    test().engine.calls.length = 0;
    const { status, json } = await turn(true);
    const { project, operations } = json as Reply;
    assert.equal(status, 200);
    assert.deepEqual(project.settings, { enable_logical_replication: true });
    assert.deepEqual(
      operations.map(({ action, endpoint_id }) => [action, endpoint_id]),
      [
        ['suspend_compute', ACTIVE],
        ['start_compute', ACTIVE],
      ],
    );
    await settled(test(), ACTIVE, 'active');
    const ofEngine = [`suspend ${ACTIVE}`, `attach ${ACTIVE}`, `start ${ACTIVE}`];
    assert.deepEqual(test().engine.calls, ofEngine);
    assert.deepEqual(((await turn(true)).json as Reply).operations, []);
    assert.deepEqual(test().engine.calls, ofEngine);
  });

  it('stays on', async () => {
    assert.deepEqual(((await turn(false)).json as Reply).operations, []);
    await turn(true);
    await endOperations(test(), PROJECT);
    const before = (await operationsOf(test())).length;
    const { status, json } = await turn(false);
    assert.equal(status, 422);
    assert.match(JSON.stringify(json), /once it is enabled, logical replication cannot be disabled/);
    assert.equal((await operationsOf(test())).length, before);
    const { json: renamed } = await send('PATCH', `/projects/${PROJECT}`, { name: 'renamed' });
    assert.deepEqual((renamed as Reply).project.settings, { enable_logical_replication: true });
  });

  it('has a boolean only, and no other setting', async () => {
    for (const settings of [{ enable_logical_replication: 1 }, { quota: {} }, 1])
      assert.equal((await send('PATCH', `/projects/${PROJECT}`, { settings })).status, 400);
  });

  it('can be on from the start', async () => {
    const { status, json } = await send('POST', '/projects', {
      settings: { enable_logical_replication: true },
    });
    assert.equal(status, 201);
    assert.deepEqual((json as Reply).project.settings, { enable_logical_replication: true });
  });
});

describe('Logical replication during an operation', () => {
  const DELAY = 1000;
  const test = useInProcess({ operationDelay: DELAY });

  it('is not turned on, because a restart would have to wait', async () => {
    await endOperations(test(), PROJECT, DELAY);
    await test().client.startCompute(PROJECT, IDLE);
    const request = {
      method: 'PATCH',
      path: `/projects/${PROJECT}`,
      key: test().key,
      body: { project: { settings: { enable_logical_replication: true } } },
    };
    assert.equal((await call(test().service.baseUrl, request)).status, 423);
    const { json } = await call(test().service.baseUrl, { path: request.path, key: test().key });
    assert.equal((json as Reply).project.settings, undefined);
    await endOperations(test(), PROJECT, DELAY);
    assert.equal((await call(test().service.baseUrl, request)).status, 200);
  });
});
