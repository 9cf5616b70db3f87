import { questions, statusBarItems } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mock } from 'node:test';

const vscode = await import('vscode');
Object.assign(vscode.window, { terminals: [] });

const { SwitchNotices } = await import('../../../../../src/extension/gitBranch/ui/followNotices.ts');

type Show = Parameters<InstanceType<typeof SwitchNotices>['show']>;

describe('SwitchNotices', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('offers Undo for the first switch, and announces the last of several others after a second', () => {
    const notices = new SwitchNotices({ error: assert.fail });
    const work = { state: { git: { branch: 'main' } } } as Show[0];
    const show = (message: string) => notices.show(work, {} as Show[1], message);
    show('first');
    assert.equal(questions.at(-1), 'first');
    show('second');
    mock.timers.tick(999);
    show('third');
    mock.timers.tick(999);
    assert.deepEqual([...statusBarItems.values()], []);
    mock.timers.tick(1);
    assert.deepEqual([...statusBarItems.values()], ['$(database) third']);
    mock.timers.tick(6000);
  });
});
