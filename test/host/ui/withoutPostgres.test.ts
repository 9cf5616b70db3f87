import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findPrograms } from '../../../src/service/postgres/config/programs.ts';
import { until } from '../../workbench/until.ts';
import { useWorkbench } from './useWorkbench.ts';

const compute = 'ep-little-smoke-851426';
const row = /^Set Up Postgres…/;

describe('the local service without Postgres', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'no-postgres-'));
  mkdirSync(path.join(folder, 'empty'));
  const opened = useWorkbench({ settings: { 'hostedPostgres.localService.postgresPath': folder } });
  const computes = () => opened().workbench.tree('Computes');
  const states = async () =>
    (await computes().rows()).flatMap(({ label }) => /^Compute [^,]*, (\w+)/.exec(label)?.[1] ?? []);
  const message = async () => opened().workbench.viewMessage('Computes');
  const chooseFolder = async (chosen: string) => {
    const { workbench } = opened();
    await workbench.quickInput.choose('How should the local service get Postgres?', 'Choose Folder…');
    await workbench.quickInput.openFolder('Folder with postgres and initdb', chosen);
    await workbench.quickInput.pressButton('Use This Folder');
  };
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('shows its projects with the reason above them, and no compute as active', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    await workbench.clickWelcome('Computes', 'Try it with the local service');
    await computes().waitFor(row);
    await computes().expandProject('shop');
    await computes().waitFor(new RegExp(`^Compute ${compute}`));
    assert.match(await message(), /^Computes can't start\. No Postgres \d+ or newer .* in \/.*no-postgres-/);
    assert.deepEqual(new Set(await states()), new Set(['idle']));
  });

  it('explains a failed restart, and offers to set up Postgres', async () => {
    const { workbench } = opened();
    await computes().inlineAction(new RegExp(`^Compute ${compute}`), 'Restart Compute');
    await workbench.dialog.press('Restart');
    await workbench.notifications.press(`Couldn't restart ${compute}: No Postgres`, 'Set Up Postgres…');
    await chooseFolder(path.join(folder, 'empty'));
    await workbench.notifications.waitFor("Couldn't set up Postgres: No Postgres");
    await workbench.notifications.clear();
    assert.deepEqual(new Set(await states()), new Set(['idle']));
  });

  it('starts computes once the user has chosen a folder with Postgres', async () => {
    const { workbench } = opened();
    await computes().click(row);
    await chooseFolder(findPrograms(undefined).first ?? '');
    await computes().waitUntilGone(row);
    await until('the message to disappear', async () => (await message()) === '');
    await computes().inlineAction(new RegExp(`^Compute ${compute}`), 'Restart Compute');
    await workbench.dialog.press('Restart');
    await computes().waitFor(new RegExp(`^Compute ${compute}, active`));
  });
});
