import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Emitter } from '../../../../../src/base/event.ts';

const vscode = await import('vscode');
const noEvent = () => ({ dispose: () => undefined });
Object.assign(vscode.window, { onDidChangeActiveTextEditor: noEvent });
Object.assign(vscode.workspace, { onDidGrantWorkspaceTrust: noEvent });

const { WorkFolders } = await import('../../../../../src/extension/gitBranch/ui/workFolders.ts');

type Dependencies = ConstructorParameters<typeof WorkFolders>[0];

describe('Env files that follow the git branch', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('have their hosts updated 300 ms after the first of several changes of the lists', () => {
    let refreshes = 0;
    const inventory = new Emitter<void>();
    const { event: onDidChange } = new Emitter<void>();
    const folders = new WorkFolders({
      session: { onDidChange, connection: { account: { baseUrl: 'https://example.com' } } },
      inventory: { onDidChange: inventory.event },
      knownHosts: { onDidChange, refresh: async () => void (refreshes += 1) },
      config: { onDidChange },
      log: { error: assert.fail },
    } as unknown as Dependencies);
    inventory.fire();
    mock.timers.tick(200);
    inventory.fire();
    mock.timers.tick(99);
    assert.equal(refreshes, 0);
    mock.timers.tick(1);
    assert.equal(refreshes, 1);
    mock.timers.tick(300);
    assert.equal(refreshes, 1);
    folders.dispose();
  });
});
