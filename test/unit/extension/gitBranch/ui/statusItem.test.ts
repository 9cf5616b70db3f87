import { statusBarItems, statusBarTooltips } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import { Emitter } from '../../../../../src/base/event.ts';
import { LocalServiceError } from '../../../../../src/localService/lease.ts';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { AgentBranches } from '../../../../../src/extension/inventory/agentBranches.ts';
import { expiryAfter } from '../../../../../src/extension/branches/expiryTime.ts';
import { connectModel, connectScripted, MemoryMap } from '../../../../helpers/connectedModel.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { until } from '../../../../workbench/until.ts';
import { computeRecord, scriptService } from '../../../../helpers/scriptedService.ts';
import { EMPTY_MAP } from '../../../../../src/extension/gitBranch/branchMap.ts';

const vscode = await import('vscode');
const { showBranchItem } = await import('../../../../../src/extension/gitBranch/ui/statusItem.ts');

type Parts = Parameters<typeof showBranchItem>[0];

const HOUR = 3_600_000;

describe('The status bar item of the database branch', () => {
  afterEach(() => mock.timers.reset());

  it("follows the state of the branch's compute", async () => {
    let current_state = 'init';
    const model = await connectScripted((call) =>
      call.endsWith('/endpoints') ? { endpoints: [computeRecord('ep-one', { current_state })] } : 404,
    );
    await model.inventory.loadComputes('shop');
    const state = {
      current: { projectId: 'shop', projectName: 'Shop', branchId: 'br-main', branchName: 'main' },
      decision: { kind: 'nothing' },
      git: { branch: 'main' },
      map: { isFollowed: false, created: [], branches: new Map() },
    };
    const folder = { name: 'web', uri: { fsPath: '/web' } };
    const none = { onDidChange: () => ({ dispose: () => undefined }) };
    const item = showBranchItem({
      ...model,
      workFolders: { ...none, shown: { folder, work: { state } } },
      agentBranches: { ...none, ofAccount: () => [] },
      config: { marks: {}, envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    } as unknown as Parts);
    const tooltip = () => statusBarTooltips.get('hostedPostgres.workBranch') ?? '';
    assert.match(tooltip(), /init/);
    current_state = 'active';
    await model.inventory.refreshComputes('shop');
    assert.match(tooltip(), /active/);
    item.dispose();
  });

  it('counts the unused branches that the list of branches does not lack', async () => {
    let branches = [{ id: 'br-gone', project_id: 'shop', name: 'gone' }];
    const model = await connectScripted(() => ({ branches, annotations: {}, endpoints: [] }));
    const account = accountId(model.account);
    const state = {
      current: { account, projectId: 'web', branchId: 'br-main', branchName: 'main' },
      decision: { kind: 'nothing' },
      git: { branch: 'main' },
      map: {
        ...EMPTY_MAP,
        created: [{ account, projectId: 'shop', branchId: 'br-gone', gitBranch: 'gone' }],
      },
    };
    const folder = { name: 'web', uri: { fsPath: createRepository().folder } };
    const none = { onDidChange: () => ({ dispose: () => undefined }) };
    const item = showBranchItem({
      ...model,
      workFolders: { ...none, shown: { folder, work: { state } } },
      agentBranches: { ...none, ofAccount: () => [] },
      config: { marks: {}, envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    } as unknown as Parts);
    const saysUnused = () =>
      /1 database branch no longer exists/.test(statusBarTooltips.get('hostedPostgres.workBranch') ?? '');
    await until('the count', async () => saysUnused());
    await model.inventory.branches.ensureLoaded('shop');
    assert(saysUnused());
    branches = [];
    await model.inventory.branches.refresh('shop');
    assert(!saysUnused());
    item.dispose();
  });

  it('says that the window is not connected to the local service of its branch, which may run for others', async () => {
    const current = { account: 'local', projectId: 'shop', branchId: 'br-main', branchName: 'main' };
    const git = { branch: 'main', pause: undefined };
    const map = { isFollowed: false, created: [], branches: new Map() };
    const state = { current, decision: { kind: 'nothing' }, git, map };
    const changed = new Emitter<void>();
    const session: { current: object } = { current: { kind: 'loading' } };
    const localService = { runs: false };
    const item = showBranchItem({
      session,
      localService,
      inventory: { onDidChange: () => ({ dispose: () => undefined }), computesOf: () => undefined },
      workFolders: {
        onDidChange: changed.event,
        shown: { folder: { name: 'web', uri: { fsPath: '/web' } }, work: { state } },
      },
      agentBranches: { onDidChange: changed.event, ofAccount: () => [] },
      config: { marks: {}, envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    } as unknown as Parts);
    const shownIn = (kind: string, error?: Error) => {
      session.current = { kind, error };
      changed.fire();
      return statusBarItems.get('hostedPostgres.workBranch');
    };
    const [usual, disconnected] = ['$(database) main', '$(database) main (not connected)'];
    assert.equal(shownIn('loading'), usual);
    assert.equal(shownIn('signedOut'), disconnected);
    assert.match(
      statusBarTooltips.get('hostedPostgres.workBranch') ?? '',
      /isn't connected to the local service/,
    );
    assert.equal(shownIn('failed', new LocalServiceError('ended', 'It ended')), disconnected);
    assert.equal(shownIn('failed', new Error('The keyring is locked')), usual);
    assert.equal(shownIn('connected'), usual);
    localService.runs = true;
    assert.equal(shownIn('signedOut'), usual);
    item.dispose();
  });

  it('counts the branches of agents until they expire, if no env file has a branch', async () => {
    const model = await connectModel(await scriptService(() => ({ branches: [], endpoints: [] })));
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
    const agentBranches = new AgentBranches(new MemoryMap());
    for (const hours of [2, 24])
      agentBranches.add({
        account: accountId(model.account),
        projectId: 'shop',
        branchId: `br-${hours}`,
        name: 'try',
        agent: 'codex',
        createdAt: expiryAfter(0),
        expiresAt: expiryAfter(hours * 3600),
      });
    const workFolders = { shown: undefined, onDidChange: new Emitter<void>().event };
    const { session, inventory } = model;
    const item = showBranchItem({ agentBranches, session, inventory, workFolders } as unknown as Parts);
    const shown = () => statusBarItems.get('hostedPostgres.workBranch');
    mock.timers.tick(2 * HOUR - 2000);
    assert.equal(shown(), '$(database) Agent branches: 2');
    mock.timers.tick(3000);
    assert.equal(shown(), '$(database) Agent branches: 1');
    mock.timers.tick(22 * HOUR);
    assert.equal(shown(), undefined);
    item.dispose();
  });

  it('says quietly in a Git repository that no env file has a database branch, while there is an account', async () => {
    const repository = createRepository();
    const model = await connectModel(await scriptService(() => ({ branches: [], endpoints: [] })));
    const changed = new Emitter<void>();
    const folder = { uri: vscode.Uri.file(repository.folder) };
    Object.defineProperty(vscode.workspace, 'workspaceFolders', { value: [folder], configurable: true });
    const item = showBranchItem({
      ...model,
      workFolders: { shown: undefined, onDidChange: changed.event },
      config: { envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    } as unknown as Parts);
    const shown = () => statusBarItems.get('hostedPostgres.workBranch');
    await until('the item', async () => shown() === '$(database) No database branch');
    assert.match(
      statusBarTooltips.get('hostedPostgres.workBranch') ?? '',
      /points to no known database branch/,
    );
    rmSync(path.join(repository.folder, '.git'), { recursive: true });
    changed.fire();
    await until('no item', async () => shown() === undefined);
    item.dispose();
    delete (vscode.workspace as { workspaceFolders?: unknown }).workspaceFolders;
  });
});
