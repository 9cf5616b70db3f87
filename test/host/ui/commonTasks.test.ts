/** The ten most common tasks, from a window with the sidebar open. MEASUREMENTS compares these counts with other tools. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../../src/base/programs/findProgram.ts';
import { countInput } from '../../helpers/inputCounter.ts';
import { mainBranch, shop } from '../../helpers/shopAccount.ts';
import { sqlClients } from '../../helpers/sqlClients.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

const compute = /^Compute primary/;

describe('the most common tasks', () => {
  const clients = sqlClients();
  const ui = useWorkbench({
    otherExtensions: clients.folders,
    settings: READABLE_TERMINALS,
  });
  const service = useService({ postgres: true });

  /** One click or key is one step. Entered letters don't count. @param prepare what the user did before, for something else */
  function takes(
    title: string,
    steps: number,
    task: () => Promise<void>,
    prepare?: () => Promise<void>,
  ): void {
    it(`${title} in ${steps} steps`, async () => {
      await prepare?.();
      assert.equal(await countInput(ui().page, task), steps);
    });
  }

  before(() => connect(ui(), service(), 'shop'));

  takes(
    'shows which computes run',
    1,
    async () => {
      await ui().openView('Hosted Postgres');
      await ui().computes.waitFor(/^Compute primary, idle/);
    },
    async () => {
      await ui().openView('Search');
    },
  );

  takes(
    'restarts',
    1,
    async () => {
      await ui().computes.inlineAction(compute, 'Restart Compute');
      await ui().statusBar.waitFor('Restarted the primary of main (shop)');
      await ui().computes.waitFor(/^Compute primary, active,/);
    },
    async () => {
      await ui().computes.inlineAction(compute, 'Start Compute');
      await ui().computes.waitFor(/^Compute primary, active,/);
    },
  );

  takes('resizes', 4, async () => {
    await ui().computes.contextMenu(compute, 'Edit Compute…');
    await ui().quickInput.accept('Select what to change');
    await ui().quickInput.choose('Select a fixed size', '1 CU');
    await ui().computes.waitFor(/^Compute primary, active, 1 CU/);
  });

  takes('suspends', 1, async () => {
    await ui().computes.inlineAction(compute, 'Suspend Compute');
    await ui().computes.waitFor(/^Compute primary, idle,/);
  });

  takes('copies a URL with its password', 3, async () => {
    await ui().computes.contextMenu(compute, 'Copy Connection String…');
    await ui().quickInput.accept('Select a database');
    await ui().waitForClipboard(/^postgresql:\/\/app_owner:[^@]+@127\.0\.0\.1:\d+\/app$/);
  });

  takes(
    'inserts a host into code',
    1,
    async () => {
      const editor = new Editor(ui().page);
      await editor.type('PGHOST=');
      await editor.waitForSuggestion('127.0.0.1');
      await editor.press('Enter');
      await editor.waitForText(/^PGHOST=127\.0\.0\.1\nPGPORT=\d+$/);
    },
    async () => {
      await writeFile(path.join(ui().folder, 'app.env'), '');
      await ui().openFile('app.env');
    },
  );

  if (findProgram('psql') !== undefined)
    takes('opens psql', 1, async () => {
      await ui().computes.inlineAction(new RegExp(`^Branch main.*${mainBranch}`), 'Open psql');
      await ui().terminal.waitFor(/app=>/);
    });

  takes('opens a SQL client', 3, async () => {
    await ui().computes.contextMenu(compute, 'Open In…');
    await ui().quickInput.accept('Select a SQL client');
    await until('the connection', async () => (await clients.received()).length > 0);
  });

  takes('makes a branch with a compute', 5, async () => {
    await ui().computes.contextMenu(new RegExp(`^Branch main.*${mainBranch}`), 'Create Branch…');
    await ui().quickInput.waitFor('Name of the new branch');
    await ui().page.keyboard.type('feature');
    await ui().quickInput.accept('Name of the new branch');
    await ui().quickInput.accept('Select whether the branch gets a compute');
    await ui().quickInput.accept('Select or type when the branch is deleted');
    await ui().computes.waitFor(/^Branch feature/);
    const { items } = await service().client.listComputes(shop);
    assert.equal(items.length, 4);
  });

  takes(
    'rotates the key',
    3,
    async () => {
      await ui().apiKeys.inlineAction(/this window/, 'Rotate API Key…');
      await ui().quickInput.accept('Name of the new key');
      await ui().dialog.press('Rotate');
      await ui().statusBar.waitFor('This window now uses API key');
    },
    async () => {
      await ui().expandView('API Keys');
    },
  );
});
