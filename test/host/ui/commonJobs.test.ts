/** The ten most common tasks, from a window with the sidebar open. ARCHITECTURE compares these counts with other tools. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../../src/base/findProgram.ts';
import { countInput } from '../../helpers/inputCounter.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { mainBranch, shop, shopAccount } from '../../helpers/shopAccount.ts';
import { sqlClients } from '../../helpers/sqlClients.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const compute = /^Compute primary/;

describe('the most common tasks', () => {
  const folder = temporaryFolder();
  const clients = sqlClients();
  const opened = useWorkbench({
    otherExtensions: clients.folders,
    // The text of a terminal is in the page only without a GPU.
    settings: { 'terminal.integrated.gpuAcceleration': 'off' },
  });
  let service: LocalService;

  const computes = () => opened().workbench.tree('Computes');
  const clipboard = (what: string, expected: RegExp) =>
    until(`${what} in the clipboard`, async () => expected.test(await opened().workbench.readClipboard()));

  /** One click or key is one step. Entered letters don't count. @param prepare what the user did before, for something else */
  function takes(job: string, steps: number, task: () => Promise<void>, prepare?: () => Promise<void>): void {
    it(`${job} in ${steps} steps`, async () => {
      await prepare?.();
      const counted = await countInput(opened().workbench.page, task);
      assert.equal(counted.steps, steps);
    });
  }

  before(async () => {
    service = await startLocalService({ args: shopAccount(folder) });
    await connect(opened().workbench, service);
    await computes().expandProject('shop');
    await computes().waitFor(compute);
  });
  after(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  takes(
    'shows which computes run',
    1,
    async () => {
      await opened().workbench.openView('Hosted Postgres');
      await computes().waitFor(/^Compute primary, idle/);
    },
    async () => {
      await opened().workbench.openView('Search');
    },
  );

  takes('restarts', 2, async () => {
    const { workbench } = opened();
    await computes().inlineAction(compute, 'Restart Compute');
    await workbench.dialog.press('Restart');
    await workbench.statusBar.waitFor('Restarted primary');
    await computes().waitFor(/^Compute primary, active,/);
  });

  takes('suspends', 1, async () => {
    await computes().inlineAction(compute, 'Suspend Compute');
    await computes().waitFor(/^Compute primary, idle,/);
  });

  takes('copies a URL with its password', 3, async () => {
    const { workbench } = opened();
    await computes().contextMenu(compute, 'Copy Connection String…');
    await workbench.quickInput.accept('Select a database');
    await clipboard('the URL', /^postgresql:\/\/app_owner:[^@]+@127\.0\.0\.1:\d+\/app$/);
  });

  takes(
    'inserts a host into code',
    1,
    async () => {
      const editor = new Editor(opened().workbench.page);
      await editor.type('PGHOST=');
      await editor.waitForSuggestion('127.0.0.1');
      await editor.press('Enter');
      await editor.waitForText(/^PGHOST=127\.0\.0\.1\nPGPORT=\d+$/);
    },
    async () => {
      await writeFile(path.join(opened().folder, 'app.env'), '');
      await opened().workbench.openFile('app.env');
    },
  );

  if (findProgram('psql') !== undefined)
    takes('opens psql', 2, async () => {
      const { workbench } = opened();
      await computes().contextMenu(compute, 'Open psql');
      const rows = workbench.page.locator('.terminal-wrapper.active .xterm-rows');
      await until('the prompt', async () =>
        (await rows.allInnerTexts()).some((text) => text.includes('app=>')),
      );
    });

  takes('opens a SQL client', 3, async () => {
    const { workbench } = opened();
    await computes().contextMenu(compute, 'Open In…');
    await workbench.quickInput.accept('Select a SQL client');
    await until('the connection', async () => (await clients.received()).length > 0);
  });

  takes('resizes', 5, async () => {
    const { workbench } = opened();
    await computes().contextMenu(compute, 'Edit Compute…');
    await workbench.quickInput.accept('Select what to change');
    await workbench.quickInput.choose('Select a fixed size', '1 CU');
    await workbench.dialog.press('Change and Restart');
    await computes().waitFor(/^Compute primary, active, primary, 1 CU/);
  });

  takes('makes a branch with a compute', 5, async () => {
    const { workbench } = opened();
    await computes().contextMenu(new RegExp(`^Branch ${mainBranch}`), 'Create Branch…');
    await workbench.quickInput.waitFor('Name of the new branch');
    await workbench.page.keyboard.type('feature');
    await workbench.quickInput.accept('Name of the new branch');
    await workbench.quickInput.accept('Select whether the branch gets a compute');
    await workbench.quickInput.accept('Delete the branch automatically');
    await computes().waitFor(/^Branch br-.*feature/);
    const { items } = await service.client.listComputes(shop);
    assert.equal(items.length, 4);
  });

  takes(
    'rotates the key',
    3,
    async () => {
      const { workbench } = opened();
      await workbench.tree('API Keys').inlineAction(/this window/, 'Rotate API Key…');
      await workbench.quickInput.accept('Name of the new key');
      await workbench.dialog.press('Rotate');
      await workbench.statusBar.waitFor('This window now uses API key');
    },
    async () => {
      await opened().workbench.expandView('API Keys');
    },
  );
});
