// Makes media/screenshot.png: the extension at work on the local service, in the real workbench.
//   npm run build && node test/workbench/screenshot.ts
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { launchBrowser } from './chromium.ts';
import { projectRoot } from './folders.ts';
import { openWorkbench } from './open.ts';
import type { Workbench } from './workbench.ts';

const settings = { 'window.title': '${rootName}', 'editor.minimap.enabled': false };
const home = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-screenshot-'));
const folder = path.join(home, 'shop');
await cp(path.join(import.meta.dirname, 'sample'), folder, { recursive: true });
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
  await rm(home, { recursive: true, force: true });
}

async function arrange(workbench: Workbench): Promise<void> {
  await workbench.openFile('query.sql');
  await workbench.openView('Hosted Postgres');
  await widenSideBar(workbench, 100);
  await workbench.clickWelcome('Computes', 'Try it with the local service');
  const computes = workbench.tree('Computes');
  await computes.expand('Project shop');
  await computes.expand('Project analytics');
  await computes.waitFor(/^Compute \S+, active/, 60_000);
  await workbench.unfoldView('API Keys');
  await workbench.tree('API Keys').waitFor(/./);
  await computes.click(/^Compute \S+, active/);
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
