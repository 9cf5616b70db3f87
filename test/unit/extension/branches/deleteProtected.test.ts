import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import type { BranchNode } from '../../../../src/extension/inventory/nodes.ts';
import { BranchActions, type UnprotectedBranch } from '../../../../src/extension/branches/branchActions.ts';
import { connectModel, RecoveryRecordMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';

const dev: BranchNode = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' };
const PATCH = 'PATCH /projects/shop/branches/br-dev';
const DELETE = 'DELETE /projects/shop/branches/br-dev';

describe('Deleting a protected branch', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let changes: BranchActions;
  let records: RecoveryRecordMap<UnprotectedBranch>;
  let branch: { readonly id: string; readonly name: string; readonly protected: boolean } | undefined;
  /** What the service does with each change; by default what the local service does. */
  let replyTo: (call: string, count: number) => unknown;

  const sent = () => service.requests.filter((call) => !call.startsWith('GET'));
  const setProtected = (isProtected: boolean) => ({
    branch: (branch = { id: 'br-dev', name: 'dev', protected: isProtected }),
  });
  const remove = () => {
    const deleted = branch;
    branch = undefined;
    return { branch: deleted };
  };
  const isProtected = () => branch?.protected === true;
  const changesOf = ({ session, inventory, sender }: ConnectedModel) =>
    new BranchActions(session, inventory, sender, records);

  beforeEach(async () => {
    setProtected(true);
    records = new RecoveryRecordMap();
    let isRemoved = false;
    replyTo = (call) => {
      if (call === DELETE) return isProtected() ? 422 : remove();
      isRemoved = !isRemoved;
      return setProtected(!isRemoved);
    };
    service = await scriptService((call) => {
      if (!call.startsWith('GET')) return replyTo(call, sent().length);
      return call.endsWith('/branches') ? { branches: branch ? [branch] : [] } : { endpoints: [] };
    });
    store = await connectModel(service);
    changes = changesOf(store);
    await store.inventory.branches.ensureLoaded('shop');
  });
  it('removes the protection only if the service rejects the deletion because of it', async () => {
    replyTo = remove;
    await changes.delete(dev, { unprotect: true }, store.options);
    assert.deepEqual(sent(), [DELETE]);
  });

  it('keeps a recovery record until the branch is deleted', async () => {
    const kept: number[] = [];
    const abandoned: unknown[] = [];
    const { script } = service;
    service.script = (call) => {
      if (!call.startsWith('GET')) kept.push(records.all().length);
      abandoned.push(...changes.leftUnprotected(accountId(store.account)));
      return script(call);
    };
    await changes.delete(dev, { unprotect: true }, store.options);
    assert.deepEqual([sent(), kept, records.all()], [[DELETE, PATCH, DELETE], [0, 1, 1], []]);
    assert.deepEqual(abandoned, [], 'this window still deletes it');
  });

  it('keeps a protection that the user has not seen', async () => {
    await assert.rejects(changes.delete(dev, { unprotect: false }, store.options), /status 422/);
    assert.deepEqual(sent(), [DELETE]);
  });

  for (const failed of [409, 502])
    it(`protects it again if it is still there after a ${failed}`, async () => {
      const reply = replyTo;
      replyTo = (call, count) => (count === 3 ? failed : reply(call, count));
      await assert.rejects(
        changes.delete(dev, { unprotect: true }, store.options),
        new RegExp(`status ${failed}`),
      );
      assert.deepEqual(sent(), [DELETE, PATCH, DELETE, PATCH]);
      assert.deepEqual([isProtected(), records.all()], [true, []]);
    });

  for (const failed of [403, 502])
    it(`does not say that the protection is lost if it could not be removed (${failed})`, async () => {
      replyTo = (call) => (call === DELETE ? 422 : failed);
      await assert.rejects(
        changes.delete(dev, { unprotect: true }, store.options),
        new RegExp(`status ${failed}`),
      );
      assert.deepEqual(records.all(), []);
    });

  it('says that the branch is no longer protected if it cannot be protected again', async () => {
    const reply = replyTo;
    replyTo = (call, count) => (count > 2 ? 502 : reply(call, count));
    await assert.rejects(changes.delete(dev, { unprotect: true }, store.options), (error: Error) => {
      assert.match(String(error.cause), /status 502/);
      return error.name === 'ProtectionLostError';
    });
    assert.equal(records.all().length, 1);
  });

  it('says only why the deletion failed if the branch is gone', async () => {
    const reply = replyTo;
    replyTo = (call, count) => (count > 2 ? 404 : reply(call, count));
    await assert.rejects(changes.delete(dev, { unprotect: true }, store.options), /status 404/);
    assert.deepEqual(records.all(), []);
  });

  it('lets the next window protect it again if a reload interrupts the deletion', async () => {
    const reply = replyTo;
    const deletion = Promise.withResolvers<unknown>();
    replyTo = (call, count) => (count === 3 ? deletion.promise : reply(call, count));
    const account = accountId(store.account);
    void changes.delete(dev, { unprotect: true }, store.options).catch(() => undefined);
    await until('the deletion', async () => sent().length === 3);
    const left = [...records.entries];
    store.dispose();
    deletion.resolve(409);
    const next = await connectModel(service);
    records.entries.clear();
    for (const [id, record] of left) await records.set(id, record);
    const ofNext = changesOf(next);
    const [abandoned] = ofNext.leftUnprotected(account);
    assert.ok(abandoned);
    assert.equal(await ofNext.protectAgain(abandoned), true);
    assert.deepEqual([isProtected(), records.all()], [true, []]);
  });
});
