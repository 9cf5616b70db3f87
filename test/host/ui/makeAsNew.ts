import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../../../src/base/processIdentity.ts';
import type { OpenWorkbench } from '../../workbench/open.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { ownServiceFolder, type OwnService } from './ownService.ts';

const extension = 'hosted-postgres.hosted-postgres';

/**
 * Makes a window that a suite has used as it was when it opened: no account, no local service nor any data of it, no
 * file, nothing open, nothing said. What VS Code remembers of what was done stays: a suite for which that matters
 * (steps of the walkthrough) goes first, or has a window of its own.
 * @throws when something stays
 */
export async function makeAsNew({ workbench, folder, dataFolder }: OpenWorkbench): Promise<void> {
  const { page, quickInput, notifications, statusBar } = workbench;
  // What the last test closed may still be on its way out; what it left open stays, and fails this.
  await quickInput.closed();
  await page.locator('.monaco-dialog-box').waitFor({ state: 'hidden' });
  await page.mouse.move(0, 0);
  await closeEditors(workbench);
  for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
  await removeLocalService(workbench, ownServiceFolder(dataFolder));
  await removeAccounts(workbench);
  await resetViews(workbench);
  await notifications.clear();
  await page.evaluate("navigator.clipboard.writeText('')");
  // What was done is told for some seconds.
  await until(
    async () => `the status bar to be empty; it shows ${JSON.stringify(await statusBar.items(extension))}`,
    async () => (await statusBar.items(extension)).length === 0,
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

async function removeLocalService(workbench: Workbench, folder: string): Promise<void> {
  const file = await readFile(path.join(folder, 'service.json'), 'utf8').catch(() => undefined);
  const service: OwnService | undefined = file === undefined ? undefined : JSON.parse(file);
  if (service !== undefined && isAlive(service.pid)) {
    await workbench.runCommand('Hosted Postgres: Stop Local Service');
    await workbench.dialog.press('Stop');
    await until('the local service to end', async () => !isAlive(service.pid));
  }
  if (existsSync(folder)) await rm(folder, { recursive: true });
}

async function removeAccounts(workbench: Workbench): Promise<void> {
  for (;;) {
    await workbench.runCommand('Hosted Postgres: Remove Account…');
    const account = await until('the accounts', async () => {
      const { items, placeholder } = await workbench.quickInput.waitFor(/Account to remove|No account/);
      return items[0] ?? (placeholder.startsWith('No account') && 'none');
    });
    if (account === 'none') return workbench.quickInput.cancel('No account is known');
    await workbench.quickInput.accept('Account to remove');
    await workbench.dialog.press('Remove');
  }
}

/** The views of the extension as they are at first, behind those of VS Code. */
async function resetViews(workbench: Workbench): Promise<void> {
  await workbench.openView('Hosted Postgres');
  await until('the welcome text', async () => /Connect/.test(await workbench.welcomeText('Computes')));
  await until('the words above the tree to go', async () => (await workbench.viewMessage('Computes')) === '');
  await workbench.foldView('API Keys');
  await workbench.runCommand('View: Show Explorer');
}
