import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../../../src/base/processIdentity.ts';
import type { OpenWorkbench } from '../../workbench/open.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { ownServiceFolder, readOwnService } from './ownService.ts';

const extension = 'hosted-postgres.hosted-postgres';

/**
 * Resets a window that a suite has used: removes accounts, the local service and its data, files, open editors and
 * notifications. VS Code's own memory of completed steps stays, so the suite of the walkthrough runs first.
 * Rejects if something cannot be reset.
 */
export async function resetWindow({ workbench, folder, dataFolder }: OpenWorkbench): Promise<void> {
  const { page, quickInput, notifications, statusBar } = workbench;
  // Prompts that the last test closed may still be visible for a moment. A prompt that it left open fails here.
  await quickInput.closed();
  await page.locator('.monaco-dialog-box').waitFor({ state: 'hidden' });
  await page.mouse.move(0, 0);
  // The center may still be open, and would take the Escape that closes a prompt.
  await notifications.clear();
  await closeEditors(workbench);
  for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
  await removeLocalService(workbench, dataFolder);
  await removeAccounts(workbench);
  await resetViews(workbench);
  await notifications.clear();
  await page.evaluate("navigator.clipboard.writeText('')");
  // Announcements are left to disappear by themselves: they name what the last suite had, such as its account.
  await until(
    async () =>
      `the operations to end; the status bar shows ${JSON.stringify(await statusBar.items(extension))}`,
    async () => (await statusBar.items(extension)).every(({ id }) => id.endsWith('announcement')),
  );
}

async function closeEditors(workbench: Workbench): Promise<void> {
  if (await workbench.page.locator('.part.panel').isVisible()) await workbench.runCommand('View: Hide Panel');
  const tabs = workbench.page.locator('.editor-group-container .tab');
  if ((await tabs.count()) === 0) return;
  await workbench.runCommand('View: Close All Editors');
  const unsaved = workbench.page.locator('.dialog-buttons').getByText("Don't Save", { exact: true });
  await until('the editors to close', async () => {
    if (await unsaved.isVisible()) await workbench.dialog.press("Don't Save");
    return (await tabs.count()) === 0;
  });
}

async function removeLocalService(workbench: Workbench, dataFolder: string): Promise<void> {
  const service = await readOwnService(dataFolder).catch(() => undefined);
  if (service !== undefined && isAlive(service.pid)) {
    await workbench.runCommand('Hosted Postgres: Stop Local Service');
    await workbench.dialog.press('Stop');
    await until('the local service to end', async () => !isAlive(service.pid));
  }
  await rm(ownServiceFolder(dataFolder), { recursive: true, force: true });
}

async function removeAccounts(workbench: Workbench): Promise<void> {
  for (;;) {
    await workbench.runCommand('Hosted Postgres: Remove Account…');
    const account = await until('the accounts', async () => {
      const { items, placeholder } = await workbench.quickInput.waitFor(
        /Select an account to remove|No accounts/,
      );
      return items[0] ?? (placeholder.startsWith('No account') && 'none');
    });
    if (account === 'none') return workbench.quickInput.cancel('No accounts');
    await workbench.quickInput.accept('Select an account to remove');
    await workbench.dialog.press('Remove');
  }
}

/** Resets the extension's views and shows the Explorer in front of them. */
async function resetViews(workbench: Workbench): Promise<void> {
  // Not by a click: VS Code ignores a second click on a tab within 300 ms, and the next suite may be that fast.
  await workbench.runCommand('View: Show Hosted Postgres');
  await until('the welcome text', async () => /Connect/.test(await workbench.welcomeText('Computes')));
  await until(
    'the message above the tree to disappear',
    async () => (await workbench.viewMessage('Computes')) === '',
  );
  await workbench.collapseView('API Keys');
  await workbench.openView('Explorer');
}
