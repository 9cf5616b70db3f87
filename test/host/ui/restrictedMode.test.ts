/** What works in an untrusted folder, and which of its settings and commands are disabled. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { primary, shopAccount } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const folderSettings = {
  'hostedPostgres.baseUrl': 'http://127.0.0.1:1/api/v2',
  'hostedPostgres.connectionString.role': 'role_of_the_folder',
};
const NEEDS_TRUST = ['Hosted Postgres: Open psql', 'Hosted Postgres: Write DATABASE_URL to .env'];

describe('restricted mode', () => {
  const folder = temporaryFolder();
  const workspace = path.join(folder, 'workspace');
  let service: LocalService;

  mkdirSync(path.join(workspace, '.vscode'), { recursive: true });
  writeFileSync(path.join(workspace, '.vscode', 'settings.json'), JSON.stringify(folderSettings));

  const opened = useWorkbench({ folder: workspace, asksForTrust: true });
  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(folder) });
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  const tree = () => opened().workbench.tree('Computes');
  /** Whether the palette offers a command. If it does not, it lists similar ones. */
  async function isOffered(title: string): Promise<boolean> {
    const { page, quickInput } = opened().workbench;
    await page.keyboard.press('F1');
    await quickInput.type(/./, `>${title}`);
    const first = await until(`the list for ${title}`, async () => (await quickInput.read())?.items[0]);
    await quickInput.cancel(/./);
    await quickInput.closed();
    return first === title;
  }

  /** Returns the role that “Copy Connection String…” proposes. */
  async function proposedRole(): Promise<string> {
    const { workbench } = opened();
    const { quickInput } = workbench;
    await workbench.runCommand('Hosted Postgres: Copy Connection String…');
    await quickInput.waitForItems('Select a compute', 4);
    await quickInput.choose('Select a compute', primary);
    await quickInput.choose('Select a host', 'Direct');
    const { value } = await quickInput.waitFor('Role');
    await quickInput.cancel('Role');
    return value;
  }

  it('shows the tree and allows changes to computes', async () => {
    const { workbench } = opened();
    await workbench.statusBar.waitFor('Restricted Mode');
    await connect(workbench, service);
    await tree().expandProject('shop');
    await tree().contextMenu(/^Compute primary/, 'Restart Compute');
    await workbench.dialog.press('Restart');
    await workbench.statusBar.waitFor('Restarted primary');
  });

  it('ignores the settings of the folder', async () => {
    assert.notEqual(await proposedRole(), folderSettings['hostedPostgres.connectionString.role']);
  });

  it('offers no command that runs programs or writes files', async () => {
    await until('Copy Host', () => isOffered('Hosted Postgres: Copy Host'));
    for (const title of NEEDS_TRUST) assert.equal(await isOffered(title), false, title);
  });

  it('ends when the folder is trusted', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Workspaces: Manage Workspace Trust');
    const editor = workbench.page.locator('.workspace-trust-editor');
    await editor.getByRole('button', { name: 'Trust', exact: true }).click();
    await workbench.statusBar.waitUntilGone('Restricted Mode');
    await workbench.page.getByRole('button', { name: /^Close Modal/ }).click();
    await editor.waitFor({ state: 'detached' });
    for (const title of NEEDS_TRUST) await until(title, () => isOffered(title));
    assert.equal(await proposedRole(), folderSettings['hostedPostgres.connectionString.role']);
  });
});
