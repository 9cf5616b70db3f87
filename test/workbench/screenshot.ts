// Takes media/screenshot.png in the real workbench: the extension connected to the local service, with a pending change.
//   npm run build && node test/workbench/screenshot.ts
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startLocalService } from '../helpers/localService.ts';
import { connect } from '../host/ui/connect.ts';
import { launchBrowser } from './chromium.ts';
import { Editor } from './editor.ts';
import { projectRoot } from './folders.ts';
import { openWorkbench } from './open.ts';
import { until } from './until.ts';
import type { Workbench } from './workbench.ts';

const settings = { 'window.title': '${rootName}', 'editor.minimap.enabled': false };
const home = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-screenshot-'));
const folder = path.join(home, 'shop');
await cp(path.join(import.meta.dirname, 'sample'), folder, { recursive: true });
await writeFile(path.join(folder, 'app.env'), '');
const service = await startLocalService({ postgres: false, args: ['--operation-delay', '12000'] });
const browser = await launchBrowser();
try {
  const opened = await openWorkbench(browser, { folder, size: { width: 1120, height: 700 }, settings });
  try {
    await arrange(opened.workbench);
    await opened.workbench.screenshot(path.join(projectRoot, 'media', 'screenshot.png'));
  } finally {
    await opened.close();
  }
} finally {
  await browser.close();
  await service.stop();
  await rm(home, { recursive: true, force: true });
}

/** Shows a pending restart in the status bar, host completions in a file, and the tooltip of a compute. */
async function arrange(workbench: Workbench): Promise<void> {
  await connect(workbench, service);
  await widenSideBar(workbench, 100);
  const computes = workbench.tree('Computes');
  await computes.expand('Project shop');
  await computes.expand('Project analytics');
  await computes.waitFor(/^Compute ep-bold-thunder-385207, active/, 60_000);
  await workbench.openFile('app.env');
  const editor = new Editor(workbench.page);
  await computes.inlineAction(/^Compute ep-bold-thunder-385207/, 'Restart Compute');
  await workbench.dialog.press('Restart');
  await workbench.statusBar.waitFor(/operation/);
  await editor.focus();
  await editor.retype('DATABASE_URL=postgresql://app_owner@');
  await editor.press('Control+Space');
  await until('the hosts', async () => (await editor.suggestions()).length > 3);
  await computes.tooltip(/^Compute ep-purple-water-204912/);
  await until('the whole tooltip', async () =>
    (await computes.tooltip(/^Compute ep-purple-water-204912/)).includes('max_connections'),
  );
}

async function widenSideBar({ page }: Workbench, pixels: number): Promise<void> {
  const box = await page.locator('.part.sidebar').boundingBox();
  if (box === null) throw new Error('There is no side bar');
  const [x, y] = [box.x + box.width + 1, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + pixels, y, { steps: 5 });
  await page.mouse.up();
}
