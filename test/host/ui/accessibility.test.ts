import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** A name as an attacker, or an unlucky colleague, may give it. */
const HOSTILE =
  '[pay](command:hostedPostgres.account.disconnect) <img src=x onerror=alert(1)> a | b `c` **d** $(trash) one\ntwo\u202eright\u0000 www.example.com https://example.com';
const SHOWN = HOSTILE.replace('\n', ' ').replace('\u202e', ' ').replace('\u0000', '');
const plain = { id: 'project-plain', name: 'shop' };
const branches = (index: string, name: string) => [
  {
    id: `br-quiet-moon-${index}`,
    computes: [
      { id: `ep-first-${index}`, type: 'read_write', name: name.slice(0, 64) },
      { id: `ep-second-${index}`, type: 'read_only', autoscaling_limit_max_cu: 2 },
    ],
  },
];
const hostile = { id: 'project-hostile', name: HOSTILE, branches: branches('hostile', HOSTILE) };

describe('Rows of the tree', () => {
  const opened = useWorkbench();
  const folder = temporaryFolder();
  let service: LocalService;
  const computes = () => opened().workbench.tree('Computes');
  const press = (key: string) => opened().workbench.page.keyboard.press(key);

  before(async () => {
    const file = path.join(folder, 'projects.json');
    const account = { projects: [{ ...plain, branches: branches('plain', 'orders') }, hostile] };
    await writeFile(file, JSON.stringify(account));
    service = await startLocalService({ postgres: false, args: ['--projects', file] });
    await connect(opened().workbench, service);
    await computes().expandProject('shop');
    await computes().waitFor(/^Compute ep-second-plain/);
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('give their kind, name, state, type, size and id to screen readers', async () => {
    const labels = (await computes().rows()).slice(0, 4).map(({ label }) => label);
    assert.deepEqual(labels, [
      'Project shop',
      'Branch br-quiet-moon-plain, default',
      'Compute orders, idle, primary, 0.25 CU, ep-first-plain',
      'Compute ep-second-plain, idle, read replica, 0.25–2 CU',
    ]);
  });

  it('copy, edit and delete with the keyboard only, independent of the row that the mouse selected', async () => {
    const { workbench } = opened();
    await computes().click(/^Compute orders/);
    await press('ArrowDown');
    await press('ControlOrMeta+c');
    const { items } = await service.client.listComputes(plain.id);
    const host = items.find(({ id }) => id === 'ep-second-plain')?.host;
    await until('the host in the clipboard', async () => (await workbench.readClipboard()) === host);
    await computes().click(/^Compute orders/);
    await press('ArrowDown');
    await press('F2');
    await workbench.quickInput.cancel('Select what to change on ep-second-plain');
    await computes().click(/^Compute orders/);
    await press('ArrowDown');
    await press('Delete');
    assert.match((await workbench.dialog.read()).message, /^Delete ep-second-plain\?$/);
    await workbench.dialog.press('Cancel');
  });

  it('copy their ids', async () => {
    const { workbench } = opened();
    assert.deepEqual(await computes().contextMenuItems('Project shop'), [
      'Create Compute…',
      'Create Branch…',
      'Refresh',
      'Mark Project…',
      'Copy Id',
      'Delete Project…',
    ]);
    await computes().contextMenu('Branch br-quiet-moon-plain, default', 'Copy Id');
    await until(
      'the id in the clipboard',
      async () => (await workbench.readClipboard()) === 'br-quiet-moon-plain',
    );
  });

  it('announce the end of a change', async () => {
    const { workbench } = opened();
    await computes().contextMenu(/^Compute orders/, 'Restart Compute');
    await workbench.dialog.press('Restart');
    const alert = workbench.page.locator('.part.statusbar').getByRole('alert');
    await until('it to be announced', async () =>
      (await alert.allInnerTexts()).some((text) => text.includes('Restarted orders')),
    );
  });

  it('offer only actions that a compute supports', async () => {
    await service.client.updateCompute(plain.id, 'ep-second-plain', { disabled: true });
    await opened().workbench.viewAction('Computes', 'Refresh');
    await computes().waitFor(/^Compute ep-second-plain, disabled/);
    const items = await computes().contextMenuItems(/^Compute ep-second-plain/);
    assert.ok(items.includes('Edit Compute…'));
    assert.ok(!items.includes('Restart Compute') && !items.includes('Open psql'), items.join());
    const { quickInput } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Find Compute…');
    const wanted = 'ep-second-plain read replica · 0.25–2 CU · disabled';
    await until('it to be announced as disabled', async () =>
      (await quickInput.waitFor('Search by name')).items.includes(wanted),
    );
    await quickInput.cancel('Search by name');
  });

  it('keep the keyboard focus when one of them is deleted', async () => {
    const { workbench } = opened();
    await computes().click(/^Compute ep-second-plain/);
    await press('Delete');
    await workbench.dialog.press('Delete');
    await computes().waitUntilGone(/^Compute ep-second-plain/);
    const focused = workbench.page.locator('.pane-body [role="tree"]:focus-within .monaco-list-row.focused');
    await until('the next row to have the focus', async () =>
      (await focused.getAttribute('aria-label'))?.startsWith('Compute orders'),
    );
    await press('F2');
    await workbench.quickInput.cancel('Select what to change on orders');
  });

  it('show a hostile name as it is', async () => {
    const { page } = opened().workbench;
    const hover = page.locator('.monaco-hover:visible');
    await page
      .locator('.pane-body [role="treeitem"]')
      .filter({ hasText: 'local' })
      .nth(1)
      .locator('.label-name')
      .hover();
    await until('the tooltip', async () => {
      const [text = ''] = await hover.allInnerTexts();
      return text.startsWith(`${SHOWN}\n`) && text.includes(hostile.id);
    });
    assert.equal(await hover.locator('a, img, code, .codicon').count(), 0);
  });
});
