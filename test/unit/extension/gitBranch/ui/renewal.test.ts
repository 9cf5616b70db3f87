/** Timers: extension/gitBranch/ui/renewal.ts. */
import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../../src/base/event.ts';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { BranchActions } from '../../../../../src/extension/branches/branchActions.ts';
import { expiryAfter } from '../../../../../src/extension/branches/expiryTime.ts';
import { FakeClock } from '../../../../helpers/fakeClock.ts';
import { connectModel, RecoveryRecordMap, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { renewUsedBranches } = await import('../../../../../src/extension/gitBranch/ui/renewal.ts');
type Parts = Parameters<typeof renewUsedBranches>[0];

describe('renewUsedBranches', () => {
  let service: ScriptedService;
  let model: ConnectedModel;
  const changed = new Emitter<void>();
  let clock: FakeClock;
  const patches = () => service.requests.filter((request) => request.startsWith('PATCH'));

  /** An env file that points to a branch. */
  const show = (days: number, isOurs = true) => {
    const ref = { account: accountId(model.account), projectId: 'shop', branchId: 'br-dev' };
    const current = { ...ref, expiresAt: expiryAfter(days * 86_400), branchName: 'dev' };
    const created = isOurs ? [{ ...ref, gitBranch: 'dev' }] : [];
    const states = [{ current, map: { created } }];
    const workFolders = { onDidChange: changed.event, states };
    const { session, inventory, sender, guards } = model;
    const branchActions = new BranchActions(session, inventory, sender, new RecoveryRecordMap());
    const log = { error: () => undefined };
    renewUsedBranches({ workFolders, session, guards, branchActions, log } as unknown as Parts, clock);
    changed.fire();
    return (later: number) => {
      states[0] = { current: { ...current, expiresAt: expiryAfter(later * 86_400) }, map: { created } };
      changed.fire();
    };
  };

  beforeEach(async () => {
    clock = new FakeClock();
    service = await scriptService((call) =>
      call.startsWith('GET')
        ? { branches: [], endpoints: [] }
        : { branch: { id: 'br-dev', name: 'dev' }, operations: [] },
    );
    model = await connectModel(service);
  });
  afterEach(() => changed.dispose());

  it('renews a branch with less than half of its lifetime left, once for each expiry', async () => {
    const showLater = show(3);
    changed.fire();
    await until('the renewal', async () => patches().length > 0);
    changed.fire();
    assert.deepEqual(patches(), ['PATCH /projects/shop/branches/br-dev']);
    showLater(7);
    showLater(2);
    await until('the second renewal', async () => patches().length === 2);
  });

  it('tries again after ten minutes if it failed, for example because the network was not up yet', async () => {
    const answer = service.script;
    service.script = (call, ...rest) => (call.startsWith('PATCH') ? 404 : answer(call, ...rest));
    show(3);
    await until('the attempt', async () => patches().length === 1);
    clock.advance(9 * 60_000);
    changed.fire();
    assert.equal(patches().length, 1);
    clock.advance(60_000);
    changed.fire();
    await until('the next attempt', async () => patches().length === 2);
  });

  const unchanged: readonly (readonly [what: string, show: () => void])[] = [
    ['a younger branch', () => show(5)],
    ["a branch that wasn't created for a git branch", () => show(3, false)],
    ['a branch of a marked project', () => ((model.marks['shop'] = 'readOnly'), show(3))],
  ];
  for (const [what, act] of unchanged)
    it(`leaves ${what} as it is`, async () => {
      act();
      await model.inventory.branches.refresh('shop');
      assert.deepEqual(patches(), []);
    });
});
