/** Timers: service/controlPlane/branches/snapshots.ts. */
import assert from 'node:assert/strict';
import { appendToName } from '../../../../src/service/controlPlane/records/branchRecord.ts';
import { branchCalls, type Api, type Branch, type Created } from '../../../helpers/branchCalls.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { endOperations, startInProcess, type InProcess, type InProcessOptions } from '../inProcess.ts';
import { BRANCHES, CHECKOUT, FREE, MAIN, MAIN_PRIMARY, PROJECT } from './sampleProject.ts';

const SNAPSHOTS = `/${PROJECT}/snapshots`;
const DELAY = 1_000;

interface Snapshot {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly source_branch_id: string;
  readonly expires_at?: string;
}
interface Reply extends Created {
  readonly snapshot: Snapshot;
  readonly snapshots: readonly Snapshot[];
}
interface Restored extends Branch {
  readonly restored_from?: string;
  readonly restored_as?: string;
  readonly restore_status?: string;
}

describe('Snapshots', () => {
  let test: InProcess;
  let api: Api;
  const send = (method: string, address: string, body?: unknown, status = 200) =>
    api.send<Reply>(method, address, body, status);
  const start = async (options: InProcessOptions = {}) => {
    test = await startInProcess({ operationDelay: DELAY, ...options });
    api = branchCalls(test);
    await settle();
    test.engine.calls.length = 0;
  };
  const settle = () => endOperations(test, PROJECT, DELAY);
  const list = async () => (await send('GET', SNAPSHOTS)).snapshots;
  const find = async (id: string) => (await api.branches(PROJECT)).find((each) => each.id === id) as Restored;
  const create = async (parameters: Readonly<Record<string, string>> = {}, branch = MAIN) => {
    const query = new URLSearchParams(parameters).toString();
    const { snapshot } = await send('POST', `${BRANCHES}/${branch}/snapshot?${query}`);
    await settle();
    return snapshot;
  };
  const rejected = (status: number, parameters: string, branch = MAIN) =>
    send('POST', `${BRANCHES}/${branch}/snapshot?${parameters}`, undefined, status);
  const restore = async (id: string, body: object, status = 200) => {
    const { branch } = await send('POST', `${SNAPSHOTS}/${id}/restore`, body, status);
    await settle();
    return branch;
  };
  const computes = async () => (await test.client.listComputes(PROJECT)).items;
  const inSeconds = (seconds: number) => new Date(test.clock.now() + seconds * 1000).toISOString();

  beforeEach(() => start());

  it('are copies of a branch, which the project lists, renames and deletes', async () => {
    const { snapshot } = await send('POST', `${BRANCHES}/${MAIN}/snapshot?name=before&slug=first`);
    assert.deepEqual(
      [snapshot.name, snapshot.slug, snapshot.source_branch_id, snapshot.expires_at],
      ['before', 'first', MAIN, undefined],
    );
    for (const [method, address] of [
      ['DELETE', `${SNAPSHOTS}/${snapshot.id}`],
      ['POST', `${SNAPSHOTS}/${snapshot.id}/restore`],
      ['DELETE', `${BRANCHES}/${MAIN}`],
    ] as const)
      await send(method, address, undefined, 423);
    await settle();
    assert.deepEqual(test.engine.calls, [`createBranch ${snapshot.id} of ${MAIN}`]);
    const expires_at = inSeconds(3600);
    await send('PATCH', `${SNAPSHOTS}/${snapshot.id}`, { snapshot: { name: 'renamed' } });
    await send('PATCH', `${SNAPSHOTS}/${snapshot.id}`, { snapshot: { expires_at } });
    assert.deepEqual(await list(), [{ ...snapshot, name: 'renamed', expires_at }]);
    await send('PATCH', `${SNAPSHOTS}/${snapshot.id}`, { snapshot: { expires_at: null } });
    assert.equal((await list())[0]?.expires_at, undefined);
    await send('DELETE', `${SNAPSHOTS}/${snapshot.id}`, undefined, 202);
    assert.deepEqual(await list(), []);
    await settle();
    assert.equal(test.engine.calls.at(-1), `deleteBranch ${snapshot.id}`);
  });

  it('have a name, a slug and a limit', async () => {
    const first = await create();
    assert.match(first.name, /^main at 2026-/);
    assert.equal(first.slug, first.id);
    for (let count = 1; count < 10; count += 1) await create({ name: 'same' });
    assert.match(JSON.stringify(await rejected(422, '')), /10 snapshots/);
  });

  it('reject what is wrong', async () => {
    await create({ slug: 'taken' });
    for (const [status, parameters, branch] of [
      [404, '', 'br-none'],
      [400, 'unknown=1'],
      [400, 'name=a&name=b'],
      [422, `name=${'x'.repeat(257)}`],
      [409, 'slug=taken'],
      [422, 'slug=-no'],
      [400, 'timestamp=yesterday'],
      [422, `timestamp=${inSeconds(60)}`],
      [422, 'lsn=x'],
      [422, `lsn=0/1&timestamp=${inSeconds(-1)}`],
      [422, `timestamp=${inSeconds(-1)}`],
      [422, `expires_at=${inSeconds(-1)}`],
    ] as const)
      await rejected(status, parameters, branch);
    const [{ id } = { id: '' }] = await list();
    for (const [status, method, address, body] of [
      [404, 'PATCH', '/snap-none', { snapshot: {} }],
      [400, 'PATCH', `/${id}`, { snapshot: { slug: 'x' } }],
      [422, 'PATCH', `/${id}`, { snapshot: { name: '' } }],
      [422, 'PATCH', `/${id}`, { snapshot: { expires_at: inSeconds(-1) } }],
      [404, 'DELETE', '/snap-none', undefined],
      [404, 'POST', '/snap-none/restore', {}],
      [400, 'POST', `/${id}/restore`, { more: 1 }],
      [409, 'POST', `/${id}/restore`, { name: 'main' }],
      [404, 'POST', `/${id}/restore`, { target_branch_id: 'br-none' }],
    ] as const)
      await send(method, `${SNAPSHOTS}${address}`, body, status);
    await send('POST', `${BRANCHES}/${MAIN}/finalize_restore`, {}, 422);
    assert.equal((await list()).length, 1);
    assert.equal((await api.branches(PROJECT)).length, 3);
  });

  it('are from a moment of the history', async () => {
    const at = inSeconds(-1);
    test.engine.history = async () => ({ start: at, isWhole: false, startLsn: '0/1', endLsn: '0/9' });
    const moments: unknown[] = [];
    test.engine.createBranch = async ({ moment }) => void moments.push(moment);
    await create({ timestamp: at });
    await create({ lsn: '0/8' });
    assert.deepEqual(moments, [{ timestamp: at }, { lsn: '0/8' }]);
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      [`main at ${at}`, 'main at 0/8'],
    );
  });

  it('stay the default branch, and get no parent that is a copy of them, when they replace a branch', async () => {
    const preview = await restore((await create({}, FREE)).id, {});
    const { branch: copy } = await api.send('POST', BRANCHES, { branch: { parent_id: preview.id } });
    await settle();
    await send('POST', `${BRANCHES}/${FREE}/restore`, { source_branch_id: copy.id });
    await settle();
    assert.equal((await find(FREE)).parent_id, copy.id);
    await send('POST', `${BRANCHES}/${preview.id}/set_as_default`);
    await send('POST', `${BRANCHES}/${preview.id}/finalize_restore`, {});
    await settle();
    const now = await find(preview.id);
    const { parent_id } = await find(copy.id);
    assert.deepEqual([now.default, now.parent_id, parent_id], [true, undefined, preview.id]);
  });

  it('do not take the place of a branch that expires if they have children, which could not be deleted', async () => {
    await send('PATCH', `${BRANCHES}/${FREE}`, { branch: { expires_at: inSeconds(600) } });
    const preview = await restore((await create({}, FREE)).id, {});
    await api.send('POST', BRANCHES, { branch: { parent_id: preview.id } });
    await settle();
    await send('POST', `${BRANCHES}/${preview.id}/finalize_restore`, {}, 422);
  });

  it('have names of at most 256 characters by default, and so do the branches of a restore', async () => {
    const rename = (id: string, name: string) => send('PATCH', `${BRANCHES}/${id}`, { branch: { name } });
    await rename(MAIN, 'x'.repeat(256));
    await rename(CHECKOUT, `${'x'.repeat(250)} (old)`);
    const { id, name } = await create();
    const restored = await restore(id, { finalize_restore: true });
    const old = (await find(MAIN)).name;
    assert.match(name, /^x+ at 2026-01-01/);
    assert.match(restored.name, / \(restored\)$/);
    assert.match(old, /^x+ \(old\) 2$/);
    assert.deepEqual(
      [name, restored.name, old].map(({ length }) => length),
      [256, 256, 256],
    );
  });

  it('are cut between two characters', () =>
    assert.equal(appendToName(`${'x'.repeat(249)}🐘`, ' (old)'), `${'x'.repeat(249)} (old)`));

  it('expire', async () => {
    await create({ expires_at: inSeconds(60) });
    test.clock.advance(70_000);
    await until('it is gone', async () => (await list()).length === 0);
    await settle();
  });

  it('become a branch that does not belong to their source, which can be finalized later', async () => {
    const { id } = await create({ name: 'before' });
    const preview = await restore(id, {});
    assert.equal(preview.name, 'before (restored)');
    const restored = await find(preview.id);
    assert.deepEqual(
      [restored.parent_id, restored.restored_from, restored.restored_as, restored.restore_status],
      [undefined, id, MAIN, 'restored'],
    );
    assert(!(await computes()).some(({ branch_id }) => branch_id === preview.id));
    const { operations } = await send('POST', `${BRANCHES}/${preview.id}/finalize_restore`, { name: 'kept' });
    assert.deepEqual(
      operations.map(({ action }) => action),
      ['suspend_compute', 'apply_config', 'start_compute'],
    );
    await send('DELETE', `${BRANCHES}/${preview.id}`, undefined, 423);
    await send('POST', `${BRANCHES}/${MAIN}/set_as_default`, undefined, 423);
    await send('POST', `/${PROJECT}/endpoints/${MAIN_PRIMARY}/restart`, undefined, 423);
    await settle();
    const [now, old] = [await find(preview.id), await find(MAIN)];
    assert.deepEqual([now.name, now.default, now.restore_status], ['main', true, 'finalized']);
    assert.deepEqual([old.name, old.default], ['kept', false]);
    const primary = (await computes()).find((each) => each.id === MAIN_PRIMARY);
    assert.deepEqual([primary?.branch_id, primary?.current_state], [preview.id, 'active']);
    await send('POST', `${BRANCHES}/${preview.id}/finalize_restore`, {}, 422);
    // Its children stay its children.
    assert.equal((await find(CHECKOUT)).parent_id, MAIN);
    for (const each of [CHECKOUT, FREE, MAIN]) {
      await send('DELETE', `${BRANCHES}/${each}`);
      await settle();
    }
    // Without its source, a snapshot can still become a branch, but replaces none.
    await restore(id, { finalize_restore: true }, 404);
    const again = await restore(id, { name: 'again' });
    assert.equal((await find(again.id)).restored_as, undefined);
    await send('POST', `${BRANCHES}/${again.id}/finalize_restore`, {}, 422);
    await send('DELETE', `${BRANCHES}/${again.id}`);
    await settle();
  });

  it('replace a branch at once, which keeps its name, settings, parent and computes', async () => {
    const { id } = await create();
    await send('PATCH', `${BRANCHES}/${CHECKOUT}`, { branch: { protected: true } });
    const body = { target_branch_id: CHECKOUT, finalize_restore: true };
    const own = (await computes()).filter(({ branch_id }) => branch_id === CHECKOUT);
    for (const round of [1, 2]) {
      const target = (await api.branches(PROJECT)).find(({ name }) => name === 'checkout-rewrite');
      const branch = await restore(id, { ...body, target_branch_id: target?.id });
      const now = await find(branch.id);
      assert.deepEqual([now.name, now.parent_id, now.protected], ['checkout-rewrite', MAIN, true]);
      const old = await find(target?.id ?? '');
      const oldName = `checkout-rewrite (old)${round === 1 ? '' : ' 2'}`;
      assert.deepEqual([old.name, old.protected], [oldName, true]);
      for (const compute of own)
        assert.equal((await computes()).find((each) => each.id === compute.id)?.branch_id, branch.id);
    }
  });

  it('take no place that has another primary', async () => {
    const { id } = await create();
    const preview = await restore(id, {});
    const endpoint = { branch_id: preview.id, type: 'read_write' };
    await send('POST', `/${PROJECT}/endpoints`, { endpoint }, 201);
    await settle();
    await send('POST', `${BRANCHES}/${preview.id}/finalize_restore`, {}, 409);
  });

  it('are gone if their data cannot be copied, and a branch stays as it is if they cannot be restored', async () => {
    test.engine.fail('createBranch', 'the disk is full');
    await create();
    assert.deepEqual(await list(), []);
    const { id } = await create();
    test.engine.fail('createBranch', 'the disk is full');
    await restore(id, { finalize_restore: true });
    assert.deepEqual((await api.branches(PROJECT)).map(({ name }) => name).toSorted(), [
      'before-migration',
      'checkout-rewrite',
      'main',
    ]);
    const primary = (await computes()).find((each) => each.id === MAIN_PRIMARY);
    assert.deepEqual([primary?.branch_id, primary?.pending_state ?? undefined], [MAIN, undefined]);
  });

  it('survive a restart, and go with their project', async () => {
    const { id } = await create();
    const folder = temporaryFolder();
    await test.stop();
    await start({ folder });
    const kept = await create();
    await test.stop();
    await start({ folder });
    assert.deepEqual(await list(), [kept]);
    assert.notEqual(kept.id, id);
    await send('PATCH', `/${PROJECT}`, { project: { history_retention_seconds: 0 } });
    await send('DELETE', `/${PROJECT}`);
    await until('its data is gone', async () => test.engine.calls.includes(`deleteBranch ${kept.id}`));
  });
});
