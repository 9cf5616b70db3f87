import {
  answers,
  executed,
  fakeTerminals,
  questions,
  statusBarItems,
} from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mock } from 'node:test';

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
  beforeEach(() => {
    // Another suite may have left what it announced.
    statusBarItems.clear();
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

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
    const notices = new FollowNotices({
      log: { error: assert.fail },
      knownHosts: { find: () => undefined },
    } as unknown as Dependencies);
    const work = { env: { file: '.env' }, state: { git: { branch: 'main' } } } as Show[0];
    const show = (branchId: string) =>
      notices.showSwitch(work, { account: 'a', projectId: 'shop', branchId }, {} as Show[2]);
    show('first');
    assert.equal(questions.at(-1), '.env points to first');
    show('second');
    mock.timers.tick(999);
    show('third');
    mock.timers.tick(999);
    assert.deepEqual([...statusBarItems.values()], []);
    mock.timers.tick(1);
    // What other suites announced may have its turn first.
    for (let turn = 0; turn < 1000 && statusBarItems.size === 0; turn++) mock.timers.tick(2000);
    assert.deepEqual([...statusBarItems.values()], ['$(database) .env points to third']);
    mock.timers.tick(6000);
  });
});
