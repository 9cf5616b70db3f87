import {
  answers,
  executed,
  fakeTerminals,
  questions,
  statusBarItems,
} from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { FakeClock } from '../../../../helpers/fakeClock.ts';

const { FollowNotices } = await import('../../../../../src/extension/gitBranch/ui/followNotices.ts');

type Show = Parameters<InstanceType<typeof FollowNotices>['showSwitch']>;
type Dependencies = ConstructorParameters<typeof FollowNotices>[0];

/** A folder whose chosen parent is the branch `br-main` of an account. */
const ask = async (account: string, answer?: string) => {
  const inventory = {
    branches: { get: () => ({ id: 'br-main', name: 'main' }) },
    project: () => ({ name: 'shop' }),
  };
  const session = { connection: { accountId: 'work' } };
  const notices = new FollowNotices({ session, inventory, config: { marks: {} } } as unknown as Dependencies);
  const parent = { account, projectId: 'shop', branchId: 'br-main' };
  const work = { folder: 'folder', state: { map: { parent } } } as unknown as Show[0];
  answers.push(answer);
  executed.length = 0;
  notices.ask(work, 'feature', 'unmapped');
  await new Promise(setImmediate);
  return executed.map(([command]) => command);
};

describe('FollowNotices', () => {
  // Another suite may have left what it announced.
  beforeEach(() => statusBarItems.clear());

  it('offers the chosen parent of this account only, because another may have the same ids', async () => {
    const use = 'Use main (shop)';
    assert.deepEqual(await ask('work', use), ['hostedPostgres.workBranch.choose']);
    assert.deepEqual(await ask('other', use), []);
  });

  it('runs nothing if the user closes the question', async () => {
    for (const account of ['work', 'other']) assert.deepEqual(await ask(account), []);
  });

  it('offers Undo for the first switch, and announces the last of several others after a second', () => {
    fakeTerminals.opened.length = 0;
    const dependencies = { log: { error: assert.fail }, knownHosts: { find: () => undefined } };
    const clock = new FakeClock();
    const notices = new FollowNotices(dependencies as unknown as Dependencies, clock);
    const work = { env: { file: '.env' }, state: { git: { branch: 'main' } } } as Show[0];
    const show = (branchId: string) =>
      notices.showSwitch(work, { account: 'a', projectId: 'shop', branchId }, {} as Show[2]);
    show('first');
    assert.equal(questions.at(-1), '.env points to first');
    show('second');
    clock.advance(999);
    show('third');
    clock.advance(999);
    assert.deepEqual([...statusBarItems.values()], []);
    clock.advance(1);
    // What other suites announced by the real time has its turn first.
    if (statusBarItems.size === 0) clock.next();
    assert.deepEqual([...statusBarItems.values()], ['$(database) .env points to third']);
    clock.next();
    assert.deepEqual([...statusBarItems.values()], []);
  });
});
