import { statusBarTooltips } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectScripted } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

const { showBranchItem } = await import('../../../../src/ui/workBranch/statusItem.ts');

describe('The status bar item of the database branch', () => {
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
      map: { isFollowed: false, created: [] },
    };
    const folder = { name: 'web', uri: { fsPath: '/web' } };
    const none = { onDidChange: () => ({ dispose: () => undefined }) };
    const item = showBranchItem({
      ...model,
      workFolders: { ...none, shown: { folder, work: { state } } },
      agentBranches: { ...none, of: () => [] },
      config: { marks: {}, env: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    } as unknown as Parameters<typeof showBranchItem>[0]);
    const tooltip = () => statusBarTooltips.get('hostedPostgres.workBranch') ?? '';
    assert.match(tooltip(), /init/);
    current_state = 'active';
    await model.inventory.refreshComputes('shop');
    assert.match(tooltip(), /active/);
    item.dispose();
  });
});
