/** What works in an untrusted folder, and which of its settings and commands are disabled. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const folderSettings = {
  'hostedPostgres.baseUrl': 'http://127.0.0.1:1/api/v2',
  'hostedPostgres.connectionString.role': 'role_of_the_folder',
};
const NEEDS_TRUST = ['Open psql', 'Rehearse Migration…', 'Write DATABASE_URL to .env'];

describe('restricted mode', () => {
  const folder = temporaryFolder();
  const workspace = path.join(folder, 'workspace');
  const service = useService();

  mkdirSync(path.join(workspace, '.vscode'), { recursive: true });
  writeFileSync(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(folderSettings));

  const ui = useWorkbench({ folder: workspace, asksForTrust: true });

  /** Returns the role that “Copy Connection String…” proposes. */
  async function proposedRole(): Promise<string> {
    await ui().run('Copy Connection String…');
    await ui().quickInput.waitForItems('Select a compute', 4);
    await ui().quickInput.choose('Select a compute', 'primary');
    await ui().quickInput.choose('Select a host', 'Direct');
    const { value } = await ui().quickInput.waitFor('Role');
    await ui().quickInput.cancel('Role');
    return value;
  }

  it('shows the tree and allows changes to computes', async () => {
    await ui().statusBar.waitFor('Restricted Mode');
    await connect(ui(), service(), 'shop');
    await ui().computes.contextMenu(/^Compute primary/, 'Start Compute');
    await ui().statusBar.waitFor('Started the primary of main (shop)');
  });

  it('ignores the settings of the folder', async () => {
    assert.notEqual(await proposedRole(), folderSettings['hostedPostgres.connectionString.role']);
  });

  it('offers no command that runs programs or writes files', async () => {
    await until('Copy Host', () => ui().isOffered('Copy Host'));
    for (const title of NEEDS_TRUST) assert.equal(await ui().isOffered(title), false, title);
  });

  it('ends when the folder is trusted', async () => {
    await ui().runCommand('Workspaces: Manage Workspace Trust');
    const editor = ui().page.locator('.workspace-trust-editor');
    await editor.getByRole('button', { name: 'Trust', exact: true }).click();
    await ui().statusBar.waitUntilGone('Restricted Mode');
    await ui()
      .page.getByRole('button', { name: /^Close Modal/ })
      .click();
    await editor.waitFor({ state: 'detached' });
    for (const title of NEEDS_TRUST) await until(title, () => ui().isOffered(title));
    assert.equal(await proposedRole(), folderSettings['hostedPostgres.connectionString.role']);
  });
});
