import assert from 'node:assert/strict';
import { baseUrlOrUndefined } from '../../../../src/api/transport/baseUrl.ts';
import { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import { ChangeGuards } from '../../../../src/extension/operations/guards.ts';
import { type Marks } from '../../../../src/extension/window/marks.ts';
import type { Inventory } from '../../../../src/extension/inventory/inventory.ts';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { holdReply } from '../../../helpers/scriptedService.ts';

const baseUrl = baseUrlOrUndefined('https://a.example/v2');
assert.ok(baseUrl);
const work = { baseUrl, name: 'work' };
const isProtected = { protected: true };
const markChanged = () => undefined;

/** The part that guards use. */
const asInventory = (part: object) => part as unknown as Inventory;

describe('ChangeGuards', () => {
  const guardsWith = (marks: Marks, branch: { readonly protected?: boolean } = {}) => {
    let isLoaded = false;
    const branches = {
      get: () => (isLoaded ? branch : undefined),
      isKnown: () => isLoaded,
      async refresh() {
        isLoaded = true;
        return await Promise.resolve(undefined);
      },
    };
    const inventory = {
      branches,
      compute: () => undefined,
      refreshComputes: () => Promise.resolve(),
      markChanged,
    };
    const connection = new AccountConnection(work, 'key', () => Promise.reject(new Error('not used')));
    return new ChangeGuards({ connection, requireSameAccount: () => undefined }, asInventory(inventory), {
      marks,
    });
  };

  it('checks before a change whether the branch is protected', async () => {
    const guards = guardsWith({}, isProtected);
    const target = { projectId: 'shop', branchId: 'br-main' };
    assert.equal(guards.cachedMark(target), undefined);
    assert.equal(guards.isProtectionCached(target), false);
    await guards.refreshProtection(target);
    assert.equal(guards.isProtectionCached(target), true);
    assert.equal(guards.cachedMark(target), 'production');
  });

  it('does not take a reply that the service gave before', async () => {
    const branch = { id: 'br-main', name: 'main', protected: false };
    const { inventory, service, guards } = await connectScripted(() => ({ branches: [branch] }));
    const held = holdReply(service, '/branches');
    const earlier = inventory.branches.refresh('shop');
    const send = await held;
    branch.protected = true;
    const target = { projectId: 'shop', branchId: 'br-main' };
    const refreshed = guards.refreshProtection(target);
    send();
    await refreshed;
    assert.equal(guards.cachedMark(target), 'production');
    await earlier;
  });

  it('waits at most five seconds for the branches and computes', async () => {
    const clock = new FakeClock();
    let reply = Promise.resolve(undefined);
    const branches = { get: () => undefined, isKnown: () => false, refresh: () => reply };
    const inventory = {
      branches,
      compute: () => undefined,
      refreshComputes: async () => undefined,
      markChanged,
    };
    const session = { connection: undefined, requireSameAccount: () => undefined };
    const guards = new ChangeGuards(session, asInventory(inventory), { marks: {} }, clock);
    const target = { projectId: 'shop', branchId: 'br-main' };
    await guards.refreshProtection(target);
    assert.deepEqual(clock.waits, []);
    reply = new Promise(() => undefined);
    const refreshed = guards.refreshProtection(target);
    assert.equal(clock.next(), 5000);
    await refreshed;
  });

  it('has no protection to load for the account, or a project as a whole', async () => {
    const guards = guardsWith({}, isProtected);
    for (const target of [{}, { projectId: 'shop' }]) {
      assert.equal(guards.isProtectionCached(target), true);
      await guards.refreshProtection(target);
    }
    assert.equal(guards.isProtectionCached({ projectId: 'shop', branchId: 'br-main' }), false);
  });

  it('checks whether the target branch of a move is protected', () => {
    const branches = {
      get: (_: string, id: string) => ({ protected: id === 'br-main' }),
      isKnown: () => true,
      refresh: async () => undefined,
    };
    const inventory = {
      branches,
      compute: () => undefined,
      refreshComputes: () => Promise.resolve(),
      markChanged,
    };
    const session = { connection: undefined, requireSameAccount: () => undefined };
    const guards = new ChangeGuards(session, asInventory(inventory), { marks: {} });
    const compute = { projectId: 'shop', branchId: 'br-dev' };
    assert.equal(guards.cachedMark({ ...compute, toBranchId: 'br-qa' }), undefined);
    assert.equal(guards.cachedMark({ ...compute, toBranchId: 'br-main' }), 'production');
  });

  it('applies the mark of the account to its projects and keys', () => {
    const guards = guardsWith({ 'https://a.example/v2#work': 'readOnly' });
    assert.equal(guards.cachedMark({}), 'readOnly');
    assert.equal(guards.cachedMark({ projectId: 'shop' }), 'readOnly');
  });

  it('applies the mark of a project only to that project', () => {
    const guards = guardsWith({ shop: 'production' });
    assert.equal(guards.cachedMark({}), undefined);
    assert.equal(guards.cachedMark({ projectId: 'shop' }), 'production');
    assert.equal(guards.cachedMark({ projectId: 'other' }), undefined);
  });

  it('gives read-only precedence over production, for projects and accounts', () => {
    const [account, project] = ['https://a.example/v2#work', 'shop'];
    for (const marks of [
      { [account]: 'readOnly', [project]: 'production' },
      { [account]: 'production', [project]: 'readOnly' },
    ] as const)
      assert.equal(guardsWith(marks).cachedMark({ projectId: project }), 'readOnly');
  });
});
