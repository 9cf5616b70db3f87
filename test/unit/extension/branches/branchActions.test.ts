import assert from 'node:assert/strict';
import { isCancelled } from '../../../../src/api/transport/errors.ts';
import type { BranchNode } from '../../../../src/extension/inventory/nodes.ts';
import { BranchActions } from '../../../../src/extension/branches/branchActions.ts';
import { hasLogicalReplication } from '../../../../src/extension/branches/projectEdit.ts';
import type { ChangeEnd } from '../../../../src/extension/operations/pendingChange.ts';
import { connectScripted, RecoveryRecordMap, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, operationRecord, TextReply } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const dev: BranchNode = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' };

describe('BranchActions', () => {
  let store: ScriptedModel;
  let changes: BranchActions;
  let branches: Record<string, unknown>[];
  let projects: unknown[];
  let computes: unknown[];
  let operations: unknown[];
  /** The status of the reply to a change, after the change was made. */
  let status: number | undefined;

  const record = (id: string, fields: object = {}) => ({
    id,
    name: id.slice(3),
    current_state: 'ready',
    ...fields,
  });
  /** Makes the change that the next call asks for, and replies to it. */
  let change: () => unknown;
  const sent = () => store.service.requests.filter((call) => !call.startsWith('GET'));

  beforeEach(async () => {
    branches = [record('br-main', { default: true }), record('br-dev', { parent_id: 'br-main' })];
    projects = [{ id: 'shop', name: 'shop' }];
    computes = [computeRecord('ep-one')];
    operations = [];
    status = undefined;
    change = () => ({ branch: branches[1], operations });
    store = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects };
      if (call.startsWith('GET') && call.endsWith('/branches')) return { branches };
      if (call.startsWith('GET') && call.includes('/operations/')) return { operation: operations[0] };
      if (call.startsWith('GET')) return { endpoints: computes };
      const reply = change();
      return status ?? reply;
    });
    const { session, inventory, sender } = store;
    changes = new BranchActions(session, inventory, sender, new RecoveryRecordMap());
    await store.inventory.ensureProjects();
    await store.inventory.loadComputes('shop');
    await store.inventory.branches.ensureLoaded('shop');
  });
  it('shows a new branch with its compute at once and follows its operations', async () => {
    operations = [operationRecord(1, { action: 'create_branch', endpoint_id: undefined })];
    change = () => {
      const branch = record('br-new', { current_state: 'init' });
      branches.push(branch);
      const endpoints = [computeRecord('ep-new', { branch_id: 'br-new' })];
      return { branch, endpoints, operations };
    };
    const { branch, computes, pendingId } = await changes.create(
      'shop',
      { branch: { name: 'new' } },
      store.options,
    );
    assert(pendingId !== undefined);
    assert.deepEqual([branch?.id, computes?.length], ['br-new', 1]);
    assert.equal(store.inventory.branches.get('shop', 'br-new')?.current_state, 'init');
    const [pending] = store.tracker.pending;
    assert.deepEqual([pending?.verb, pending?.branchId, pending?.name], ['create', 'br-new', 'new']);
  });

  it('asks for the operations of a branch change only when its computes have started', async () => {
    operations = [operationRecord(1, { status: 'finished' })];
    computes = [
      computeRecord('ep-dev', { branch_id: 'br-dev', current_state: 'idle', pending_state: 'active' }),
    ];
    const running = [operationRecord(1)];
    change = () => ({ branch: branches[1], operations: running });
    const ends: ChangeEnd[] = [];
    store.tracker.onDidEnd((end) => ends.push(end));
    await changes.reset(dev, 'br-main', store.options);
    for (let turn = 0; turn < 3; turn += 1) await store.clock.turn();
    assert.ok(store.service.requests.every((call) => !call.includes('/operations/')));
    computes = [computeRecord('ep-dev', { branch_id: 'br-dev' })];
    store.clock.next();
    await until('the end', async () => ends.length > 0);
  });

  it('shows the branch of the reply even if the list cannot be loaded afterwards', async () => {
    let isDown = false;
    const answer = store.service.script;
    store.service.script = (call) => (isDown && call.startsWith('GET') ? 500 : answer(call));
    change = () => {
      isDown = true;
      return { branch: record('br-dev', { name: 'renamed' }), operations };
    };
    await changes.update(dev, { name: 'renamed' }, store.options);
    assert.equal(store.inventory.branches.get('shop', 'br-dev')?.name, 'renamed');
  });

  it('reports the end of a branch change when the branch is ready and its operations have ended', async () => {
    operations = [operationRecord(1, { action: 'create_branch' })];
    change = () => ({ branch: (branches[1] = record('br-dev', { current_state: 'resetting' })), operations });
    const ends: ChangeEnd[] = [];
    store.tracker.onDidEnd((end) => ends.push(end));
    await changes.reset(dev, 'br-main', store.options);
    await store.clock.turn();
    assert.deepEqual(ends, []);
    operations = [operationRecord(1, { status: 'finished' })];
    branches[1] = record('br-dev');
    await until('the end', async () => {
      if (ends.length === 0 && store.clock.waits.length > 0) store.clock.next();
      return ends.length > 0;
    });
    const described = ends.map(({ outcome, change: { verb, branchId } }) => [outcome, verb, branchId]);
    assert.deepEqual(described, [['finished', 'reset', 'br-dev']]);
    assert.equal(store.inventory.branches.get('shop', 'br-dev')?.current_state, 'ready');
  });

  it('loads all branches again after a change, because others may differ as well', async () => {
    change = () => {
      branches = [record('br-main', { default: false }), record('br-dev', { default: true })];
      return { branch: branches[1], operations };
    };
    await changes.setDefault(dev, store.options);
    assert.equal(store.inventory.branches.forProject('shop')?.default?.id, 'br-dev');
    assert.equal(store.inventory.branches.get('shop', 'br-main')?.default, false);
  });

  it('trusts the list rather than an empty reply', async () => {
    store.service.script = (call) =>
      call.startsWith('GET')
        ? call.endsWith('/branches')
          ? { branches }
          : { endpoints: [] }
        : new TextReply('');
    await assert.rejects(changes.update(dev, { protected: true }, store.options), /branch/);
    branches[1] = record('br-dev', { protected: true });
    await changes.update(dev, { protected: true }, store.options);
  });

  it('creates a project and lists it', async () => {
    const project = { id: 'blog', name: 'blog' };
    change = () => {
      projects.push(project);
      return { project, operations: [operationRecord(1, { project_id: 'blog' })] };
    };
    assert.deepEqual(await changes.createProject({ name: 'blog' }, store.options), {
      project,
      pendingId: operationRecord(1)['id'],
    });
    assert.ok(store.inventory.projects?.entries.has('blog'));
    const [pending] = store.tracker.pending;
    assert.deepEqual([pending?.verb, pending?.projectId, pending?.name], ['create', 'blog', 'blog']);
    assert.equal(pending?.computeId, undefined);
  });

  it('creates no project in an account that the window switches to in the meantime', async () => {
    const listed = Promise.withResolvers<unknown>();
    const { script } = store.service;
    store.service.script = (call) => (call === 'GET /projects' ? listed.promise : script(call));
    const { connection } = store.session;
    const creating = changes.createProject({ name: 'blog' }, store.options);
    await store.accounts.add({ ...store.account, name: 'other' }, 'key');
    await until('the other account', async () => store.session.connection !== connection);
    listed.resolve({ projects });
    await assert.rejects(creating, (error) => isCancelled(error));
    assert.deepEqual(sent(), []);
  });

  it('finds a new project in the list after a lost reply, if there is only one candidate', async () => {
    status = 504;
    const create = () => changes.createProject({ name: 'blog' }, store.options);
    change = () => projects.push({ id: 'other', name: 'other' });
    await assert.rejects(create(), /status 504/);
    change = () => projects.push({ id: 'blog', name: 'blog' });
    assert.equal((await create()).project?.id, 'blog');
    change = () => undefined;
    await assert.rejects(create(), /status 504/);
    change = () => projects.push({ id: 'blog-2', name: 'blog' }, { id: 'blog-3', name: 'blog' });
    await assert.rejects(create(), /status 504/);
    assert.equal(sent().length, 4);
  });

  it('renames a project, also if the reply is lost', async () => {
    change = () => {
      projects = [{ id: 'shop', name: 'market' }];
      return { project: projects[0] };
    };
    await changes.renameProject('shop', 'market', store.options);
    assert.equal(store.inventory.project('shop')?.name, 'market');
    status = 502;
    await changes.renameProject('shop', 'market', store.options);
    change = () => (projects = []);
    status = 404;
    await assert.rejects(changes.renameProject('shop', 'market', store.options), /status 404/);
  });

  it('turns on logical replication, also if the reply is lost', async () => {
    change = () => {
      projects = [{ id: 'shop', name: 'shop', settings: { enable_logical_replication: true } }];
      return { project: projects[0] };
    };
    status = 502;
    await changes.turnOnReplication('shop', store.options);
    const project = store.inventory.project('shop');
    assert.ok(project !== undefined && hasLogicalReplication(project));
    projects = [{ id: 'shop', name: 'shop' }];
    change = () => undefined;
    await assert.rejects(changes.turnOnReplication('shop', store.options), /status 502/);
  });

  it('deletes a project', async () => {
    change = () => {
      projects = [];
      return { project: { id: 'shop', name: 'shop' } };
    };
    await changes.deleteProject('shop', store.options);
    assert.equal(store.inventory.projects?.entries.has('shop'), false);
  });

  it('checks after a lost reply whether a project was deleted', async () => {
    status = 502;
    change = () => undefined;
    await assert.rejects(changes.deleteProject('shop', store.options), /status 502/);
    change = () => (projects = []);
    await changes.deleteProject('shop', store.options);
    assert.equal(sent().length, 2);
  });

  it('knows a service without changes of projects from a project that is gone', async () => {
    change = () => undefined;
    status = 404;
    const notOffered = { name: 'NotOfferedError', feature: 'projects' };
    await assert.rejects(changes.createProject({ name: 'blog' }, store.options), notOffered);
    await assert.rejects(changes.deleteProject('shop', store.options), notOffered);
    change = () => (projects = []);
    await assert.rejects(changes.deleteProject('shop', store.options), /status 404/);
  });

  it('returns the new branch and its compute after a lost reply', async () => {
    status = 502;
    change = () => branches.push(record('br-other', { name: 'other' }));
    await assert.rejects(changes.create('shop', { branch: { name: 'qa' } }, store.options), /status 502/);
    change = () => branches.push(record('br-qa', { name: 'qa' }));
    computes.push(computeRecord('ep-qa', { branch_id: 'br-qa' }));
    const created = await changes.create('shop', { branch: { name: 'qa' } }, store.options);
    assert.deepEqual([created.branch?.id, created.computes?.map(({ id }) => id)], ['br-qa', ['ep-qa']]);
  });
});
