import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { mainBranch, primary, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** The badge of each row, as the style sheet draws it. Runs in the page. */
const BADGES = `[...document.querySelectorAll('.pane-body [aria-label="Computes"] .monaco-icon-label')]
  .map((label) => getComputedStyle(label, '::after').content)`;

describe('Marks of projects and accounts', () => {
  const opened = useWorkbench();
  const computes = () => opened().workbench.tree('Computes');
  let service: LocalService;
  let proxy: FaultProxy;

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    await connect(opened().workbench, { baseUrl: proxy.baseUrl, key: service.key });
    await computes().expandProject('shop');
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  const changes = () => proxy.requests.filter(({ method }) => method !== 'GET').length;
  const mark = async (row: RegExp, label: string) => {
    await computes().contextMenu(row, 'Mark Project…');
    await opened().workbench.quickInput.choose('Select how to protect shop', label);
  };

  it('show production with text, badge and color', async () => {
    await mark(/^Project shop/, 'Production');
    await computes().waitFor('Project shop, production');
    await computes().waitFor(/^Compute primary, .*, production/);
    await computes().waitFor(new RegExp(`^Branch ${mainBranch}.*, production`));
    await until('the badges', async () => {
      const contents = await opened().workbench.page.evaluate<string[]>(BADGES);
      return contents.filter((content) => content === '"P"').length === 4;
    });
  });

  it('ask for the name before a change in production', async () => {
    const { quickInput, statusBar } = opened().workbench;
    const before = changes();
    await computes().inlineAction(/^Compute primary,/, 'Restart Compute');
    const { message, title } = await quickInput.waitFor('This is production. Enter “primary”');
    assert.match(title, /Restart primary\?/);
    assert.match(message, /^The compute restarts\. /);
    await quickInput.cancel('This is production');
    assert.equal(changes(), before);
    await computes().inlineAction(/^Compute primary,/, 'Restart Compute');
    await quickInput.answer('This is production', 'primary');
    await statusBar.waitFor('Restarted primary');
    assert.equal(changes(), before + 1);
  });

  it('insert the host of a marked compute that is dropped into an editor', async () => {
    const { workbench } = opened();
    await writeFile(path.join(opened().folder, 'dropped.txt'), 'dragged: ');
    await workbench.openFile('dropped.txt');
    const { items } = await service.client.listComputes(shop);
    const host = items.find(({ id }) => id === primary)?.host ?? '';
    const row = workbench.page.getByRole('treeitem', { name: /^Compute primary/ });
    const target = workbench.page.locator('.editor-instance .view-line').first();
    await row.dragTo(target, { steps: 5 });
    await new Editor(workbench.page).waitForText(host);
  });

  it('forbid each change of a read-only project', async () => {
    const { notifications } = opened().workbench;
    await mark(/^Project shop/, 'Read-only');
    await computes().waitFor('Project shop, read-only');
    // A row that is redrawn closes its menu.
    await computes().waitFor(/^Compute primary, .*, read-only/);
    const before = changes();
    for (const item of ['Delete Compute', 'Edit Compute…']) {
      await computes().contextMenu(/^Compute primary,/, item);
      await notifications.waitFor(`You have marked the project ${shop} as read-only`);
      await notifications.clear();
    }
    assert.equal(changes(), before);
  });

  it('can be removed from the message', async () => {
    const { notifications, quickInput, statusBar } = opened().workbench;
    await computes().inlineAction(/^Compute primary,/, 'Suspend Compute');
    await notifications.press('as read-only', 'Mark Project…');
    await quickInput.choose('Select how to protect shop', 'No mark');
    await statusBar.waitFor('Removed the mark of shop');
    await computes().waitFor('Project shop');
    await notifications.clear();
  });

  it('treat protected branches as production', async () => {
    const { quickInput } = opened().workbench;
    await service.client.branches.update(shop, mainBranch, { protected: true });
    await opened().workbench.runCommand('Hosted Postgres: Refresh');
    await computes().waitFor(/^Compute primary, .*, production/);
    await computes().inlineAction(/^Compute primary,/, 'Restart Compute');
    await quickInput.cancel('This is production. Enter “primary”');
  });

  it('protect the API keys of an account', async () => {
    const { notifications, quickInput } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Mark Account…');
    await quickInput.choose('Select how to protect', 'Read-only');
    await computes().waitFor('Project analytics, read-only');
    const before = changes();
    await opened().workbench.runCommand('Hosted Postgres: Create API Key…');
    await notifications.waitFor('You have marked this account as read-only');
    await notifications.clear();
    assert.equal(changes(), before);
  });
});
