// `npm run screenshots`: takes the pictures of the README and of docs/rehearsal.md, media/screenshots/*.png, in a real VS Code that is
// connected to the local service. The packaged extension is used, because VS Code marks the window of one under development.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import UPNG from 'upng-js';
import { startLocalService } from '../helpers/localService.ts';
import { createRepository } from '../helpers/gitRepository.ts';
import { connect } from '../host/ui/connect.ts';
import { branchApi } from '../real/service/postgres/catalog/branchApi.ts';
import { runStatements } from '../real/service/postgres/clients.ts';
import { Editor } from './editor.ts';
import { projectRoot } from './folders.ts';
import { openWorkbench } from './open.ts';
import { until } from './until.ts';
import type { Workbench } from './workbench.ts';

const pictures = path.join(projectRoot, 'media', 'screenshots');

const home = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-screenshots-'));
const folder = path.join(home, 'shop');
await mkdir(folder);
await writeFile(path.join(folder, 'app.env'), '');
// Operations take long enough to be seen in a picture.
const service = await startLocalService({ postgres: false, args: ['--operation-delay', '12000'] });
try {
  const opened = await openWorkbench({
    folder,
    extension: path.join(projectRoot, 'dist', 'hosted-postgres.vsix'),
    size: { width: 1100, height: 620 },
    settings: {
      'window.title': '${rootName}',
      'editor.minimap.enabled': false,
    },
  });
  try {
    await takeAll(opened);
    await take(opened, 'rehearsal', rehearsal);
  } finally {
    await opened.close();
  }
} finally {
  await service.stop();
  await rm(home, { recursive: true, force: true });
}

async function takeAll(workbench: Workbench): Promise<void> {
  await connect(workbench, service);
  await workbench.notifications.clear();
  await workbench.setSideBarWidth(470);
  const computes = workbench.computes;
  await computes.expandProject('shop');
  await computes.expandProject('analytics');
  await computes.waitFor(/^Compute .*, active, .*ep-bold-thunder-385207$/);
  await workbench.openFile('app.env');
  for (const [name, arrange] of Object.entries({ code, change, browse, gitBranch }))
    await take(workbench, name, arrange);
}

async function take(
  workbench: Workbench,
  name: string,
  arrange: (workbench: Workbench) => Promise<void>,
): Promise<void> {
  await arrange(workbench);
  const file = path.join(pictures, `${name}.png`);
  await workbench.screenshot(file);
  await writeFile(file, reduceColors(await readFile(file)));
}

/** To 256, which takes less than half of the bytes. The packages contain the pictures. */
function reduceColors(png: Buffer): Buffer {
  const image = UPNG.decode(new Uint8Array(png).buffer);
  return Buffer.from(UPNG.encode(UPNG.toRGBA8(image), image.width, image.height, 256));
}

/** Hosts to complete in an environment file. */
async function code({ page }: Workbench): Promise<void> {
  const editor = new Editor(page);
  await editor.retype('DATABASE_URL=postgresql://app_owner@');
  await editor.press('Control+Space');
  await until('the hosts', async () => (await editor.suggestions()).length > 3);
}

/** The sizes to choose from for a compute. */
async function change(workbench: Workbench): Promise<void> {
  const editor = new Editor(workbench.page);
  await editor.accept(/^main \(shop\).*127\.0\.0\.1:15432/);
  await editor.waitForText('@127.0.0.1');
  await editor.type('/app');
  for (const key of ['Escape', 'ControlOrMeta+s']) await editor.press(key);
  await workbench.computes.contextMenu(/^Compute .*ep-little-smoke-851426$/, 'Edit Compute…');
  await workbench.quickInput.choose('Select what to change', 'Size…');
  await workbench.quickInput.waitFor('Select a fixed size');
}

/** A restart in progress and the tooltip of another compute. */
async function browse(workbench: Workbench): Promise<void> {
  const computes = workbench.computes;
  await workbench.quickInput.cancel('Select a fixed size');
  await computes.inlineAction(/^Compute .*ep-little-smoke-851426$/, 'Restart Compute');
  await workbench.statusBar.waitFor(/operation/);
  const compute = /^Compute .*ep-purple-water-204912$/;
  await until('the whole tooltip', async () => (await computes.tooltip(compute)).includes('max_connections'));
}

/** The menu of the database branch of a Git branch. */
async function gitBranch(workbench: Workbench): Promise<void> {
  const repository = createRepository(folder);
  await writeFile(path.join(folder, '.gitignore'), '.env\n');
  repository.git('switch', '--quiet', '--create', 'feature/login');
  await workbench.run('Create Branch for This Git Branch');
  await workbench.quickInput.choose("The service doesn't provide the password", 'Use a placeholder');
  await workbench.notifications.waitFor('.env points to');
  await workbench.notifications.clear();
  const title = '.env points to feature/login';
  const show = () => workbench.page.getByRole('button', { name: /^Database branch feature\/login/ }).click();
  await show();
  await workbench.quickInput.choose(title, 'Open .env');
  await workbench.page.locator('.tab.active', { hasText: /^\.env/ }).waitFor();
  await show();
  await workbench.quickInput.waitFor(title);
}

/** The document about a migration that drops a column with values, and locks another table. */
async function rehearsal(workbench: Workbench): Promise<void> {
  await workbench.quickInput.cancel('.env points to feature/login');
  const own = await startLocalService();
  const uri = await branchApi(() => own).uri();
  await runStatements(
    uri,
    'create table users (id int primary key, nick text)',
    "insert into users select g, case when g <= 1204 then 'n' end from generate_series(1, 2000) g",
    'create table invoices (id int primary key, total int)',
    'insert into invoices select g, g from generate_series(1, 200000) g',
  );
  const statements = [
    'begin;',
    'alter table users drop column nick;',
    'create index on invoices (total);',
    'alter table invoices alter column total type bigint;',
    'commit;',
  ];
  await writeFile(path.join(folder, '0007_cleanup.sql'), statements.join('\n'));
  await connect(workbench, own, 'shop');
  await workbench.computes.click(/^Branch main, default/);
  await workbench.runCommand('View: Close All Editors');
  await workbench.openFile('0007_cleanup.sql');
  await workbench.run('Rehearse Migration…');
  await workbench.quickInput.choose('Select what to rehearse', '0007_cleanup.sql');
  await workbench.quickInput.choose('Select the branch to copy for the rehearsal', 'main');
  await workbench.dialog.press('Rehearse');
  await workbench.statusBar.waitFor('Loses 1,204 values of public.users.nick.');
  await workbench.notifications.clear();
  await workbench.runCommand('View: Close Other Editors in Group');
  const frame = workbench.page.frameLocator('iframe.webview.ready').frameLocator('iframe[title]');
  await frame.getByRole('img', { name: /^Locks/ }).scrollIntoViewIfNeeded();
}
