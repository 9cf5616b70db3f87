import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../../../src/base/programs/isAlive.ts';
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
export async function resetWindow(ui: OpenWorkbench): Promise<void> {
  const { page, quickInput, notifications, statusBar } = ui;
  // Prompts that the last test closed may still be visible for a moment. A prompt that it left open fails here.
  await quickInput.closed();
  await page.locator('.monaco-dialog-box').waitFor({ state: 'hidden' });
  await page.mouse.move(0, 0);
  // The center may still be open, and would take the Escape that closes a prompt.
  await notifications.clear();
  await closeEditors(ui);
  for (const name of await readdir(ui.folder)) await rm(path.join(ui.folder, name), { recursive: true });
  await removeLocalService(ui);
  await removeAccounts(ui);
  await resetViews(ui);
  await notifications.clear();
  await page.evaluate("navigator.clipboard.writeText('')");
  // Announcements are left to disappear by themselves: they name what the last suite had, such as its account.
  await until(
    async () =>
      `the operations to end; the status bar shows ${JSON.stringify(await statusBar.items(extension))}`,
    async () => (await statusBar.items(extension)).every(({ id }) => id.endsWith('announcement')),
  );
}

/** Discards unsaved changes. */
export async function closeEditors(ui: Workbench): Promise<void> {
  if (await ui.page.locator('.part.panel').isVisible()) await ui.runCommand('View: Hide Panel');
  const tabs = ui.page.locator('.editor-group-container .tab');
  if ((await tabs.count()) === 0) return;
  await ui.runCommand('View: Close All Editors');
  const unsaved = ui.page.locator('.dialog-buttons').getByText("Don't Save", { exact: true });
  await until('the editors to close', async () => {
    if (await unsaved.isVisible()) await ui.dialog.press("Don't Save");
    return (await tabs.count()) === 0;
  });
}

async function removeLocalService(ui: OpenWorkbench): Promise<void> {
  const service = await readOwnService(ui.dataFolder).catch(() => undefined);
  if (service !== undefined && isAlive(service.pid)) {
    await ui.run('Stop Local Service…');
    await ui.dialog.press('Stop');
    await until('the local service to end', async () => !isAlive(service.pid));
  }
  await rm(ownServiceFolder(ui.dataFolder), { recursive: true, force: true });
  if (service === undefined) return;
  // Only then, the window sees that there is no data, and welcomes a new user.
  await ui.run('Stop Local Service…');
  await ui.dialog.press('Stop');
}

async function removeAccounts(ui: OpenWorkbench): Promise<void> {
  for (;;) {
    await ui.run('Remove Account…');
    const account = await until('the accounts', async () => {
      const { items, placeholder } = await ui.quickInput.waitFor(/Select an account to remove|No accounts/);
      return items[0] ?? (placeholder.startsWith('No account') && 'none');
    });
    if (account === 'none') return ui.quickInput.cancel('No accounts');
    await ui.quickInput.accept('Select an account to remove');
    await ui.dialog.press('Remove');
  }
}

/** Resets the extension's views and shows the Explorer in front of them. */
async function resetViews(ui: OpenWorkbench): Promise<void> {
  // A click doesn't do: VS Code ignores a second click on a tab within 300 ms, and the next suite may be that fast.
  await ui.runCommand('View: Show Hosted Postgres');
  await until('the welcome text', async () => /Connect/.test(await ui.welcomeText('Computes')));
  await ui.waitForMessage(/^$/);
  await ui.collapseView('API Keys');
  await ui.openView('Explorer');
}
