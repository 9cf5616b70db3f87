import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { isAlive } from '../../../src/base/programs/isAlive.ts';
import { processTree, listProcesses } from '../../workbench/processes.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { findOwnService, ownServiceFolder } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('the life of the local service', () => {
  const ui = useWorkbench();

  const showComputes = async (workbench: Workbench = ui()) => {
    await workbench.openView('Hosted Postgres');
    await workbench.computes.expandProject('shop');
    await workbench.computes.waitFor(/^Compute primary, .*ep-little-smoke-851426$/);
  };
  const start = async (button: string) => {
    await ui().openView('Hosted Postgres');
    await ui().clickWelcome('Computes', button);
    // The button that had the focus is gone.
    await ui().page.locator('[role="tree"][aria-label="Computes"]:focus').waitFor();
    await showComputes();
    return findOwnService(ui().dataFolder);
  };

  it('is shared by two windows, and continues when one closes or reloads', async () => {
    const service = await start('Try it with the local service');
    const second = await ui().openWindow();
    await showComputes(second);
    assert.deepEqual(await findOwnService(ui().dataFolder), service);
    await close(second);
    await ui().reload();
    await showComputes();
    assert.deepEqual(await findOwnService(ui().dataFolder), service);
    await ui().computes.click('Project shop');
    await ui().run('Stop Local Service…');
    assert.match((await ui().dialog.read()).detail, /data are kept for the next start/);
    await ui().dialog.press('Stop');
    await until('the service to end', async () => !isAlive(service.pid));
    // The row that had the focus is gone.
    await ui().page.locator('.welcome-view-content:focus', { hasText: 'Start Local Service' }).waitFor();
  });

  it('loses its lease with the last window, so that it ends after the grace time', async () => {
    assert.match(
      await ui().welcomeText('Computes'),
      /isn't connected to the local service\. Its projects and data are kept\./,
    );
    const service = await start('Start Local Service');
    const all = await processTree([service.pid]);
    // This window has started the service. Closing it ends its lease.
    const extensionHost = (await listProcesses()).find(({ pid }) => pid === service.pid)?.parent ?? 0;
    assert.ok(extensionHost > 1 && isAlive(extensionHost));
    await close(ui());
    await until('the extension host to end', async () => !isAlive(extensionHost));
    process.kill(service.pid, 'SIGTERM');
    await until('all of it to end', async () => !all.some(isAlive));
    assert.ok(existsSync(ownServiceFolder(ui().dataFolder)));
  });
});

/** Closes the window like a user closes a tab, so that the page can react. */
async function close({ page }: Workbench): Promise<void> {
  await page.goto('about:blank');
  await page.close();
}
