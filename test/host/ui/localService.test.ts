import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { isAlive } from '../../../src/base/processIdentity.ts';
import { familyOf, listProcesses } from '../../workbench/processes.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { findOwnService, ownServiceFolder, type OwnService } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

const active = /^Compute ep-little-smoke-851426, active/;

describe('the life of the local service', () => {
  const opened = useWorkbench();
  let service: OwnService;
  const runningService = () => findOwnService(opened().dataFolder);
  /** The service and its Postgres processes. */
  const family = async () => familyOf([service.pid]);
  const showComputes = async (workbench: Workbench) => {
    await workbench.openView('Hosted Postgres');
    await workbench.tree('Computes').expandProject('shop');
    await workbench.tree('Computes').waitFor(active);
  };

  it('starts one process, with Postgres processes below it', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    await workbench.clickWelcome('Computes', 'Try it with the local service');
    await showComputes(workbench);
    service = await runningService();
    assert.ok((await family()).length > 1);
  });

  it('is shared by two windows, and continues when the second one closes', async () => {
    const second = await opened().openWindow();
    await showComputes(second);
    assert.deepEqual(await runningService(), service);
    await close(second);
    await showComputes(opened().workbench);
    assert.ok(isAlive(service.pid));
  });

  it('is joined again after a reload', async () => {
    const { workbench } = opened();
    await workbench.reload();
    await showComputes(workbench);
    assert.deepEqual(await runningService(), service);
  });

  it('ends with Stop Local Service, and its Postgres processes with it', async () => {
    const { workbench } = opened();
    const all = await family();
    assert.ok(all.length > 1);
    await workbench.runCommand('Hosted Postgres: Stop Local Service');
    const { detail } = await workbench.dialog.read();
    assert.match(detail, /data are kept for the next start/);
    await workbench.dialog.press('Stop');
    assert.match(await workbench.welcomeText('Computes'), /Try it with the local service/);
    await until('all of it to end', async () => !all.some(isAlive));
  });

  it('loses its lease with the last window, so that it ends after the grace time', async () => {
    const { workbench, dataFolder } = opened();
    const computes = workbench.tree('Computes');
    await workbench.clickWelcome('Computes', 'Try it with the local service');
    await computes.expandProject('shop');
    await wake(workbench);
    service = await runningService();
    const all = await family();
    assert.ok(all.length > 1);
    // It has started the service, and its end closes the lease.
    const extensionHost = (await listProcesses()).find(({ pid }) => pid === service.pid)?.parent ?? 0;
    assert.ok(extensionHost > 1 && isAlive(extensionHost));
    await close(workbench);
    await until('the extension host to end', async () => !isAlive(extensionHost));
    process.kill(service.pid, 'SIGTERM');
    await until('all of it to end', async () => !all.some(isAlive));
    assert.equal(existsSync(ownServiceFolder(dataFolder)), true);
  });
});

/** After the service has ended, all computes are idle when it starts again. */
async function wake(workbench: Workbench): Promise<void> {
  const computes = workbench.tree('Computes');
  await computes.inlineAction(/^Compute ep-little-smoke-851426, idle/, 'Restart Compute');
  await workbench.dialog.press('Restart');
  await computes.waitFor(active);
}

/** Closes the window like a user closes a tab, so that the page can react. */
async function close({ page }: Workbench): Promise<void> {
  await page.goto('about:blank');
  await page.close();
}
