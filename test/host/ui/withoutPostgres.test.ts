import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findPrograms } from '../../../src/service/postgres/server/programs.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { useWorkbench } from './useWorkbench.ts';

const compute = 'ep-little-smoke-851426';
const row = /^Set Up Postgres…/;

describe('the universal package without Postgres', () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, 'empty'));
  const more = path.join(folder, 'more');
  for (const part of ['extension', 'lib']) mkdirSync(path.join(more, part), { recursive: true });
  // The service can be another user's.
  chmodSync(folder, 0o755);
  writeFileSync(path.join(more, 'extension', 'vector.control'), "default_version = '1'\n");
  const ui = useWorkbench({
    isPackaged: true,
    settings: {
      'hostedPostgres.localService.postgresPath': folder,
      'hostedPostgres.localService.extensionsPath': more,
    },
  });
  const states = async () =>
    (await ui().computes.labels()).flatMap((label) => /^Compute [^,]*, (\w+)/.exec(label)?.[1] ?? []);
  const chooseFolder = async (chosen: string) => {
    await ui().quickInput.choose('How should the local service get Postgres?', 'Choose Folder…');
    await ui().quickInput.openFolder('Folder with postgres and initdb', chosen);
    await ui().quickInput.pressButton('Use This Folder');
  };

  it('shows its projects with the reason above them, and no compute as active', async () => {
    await ui().openView('Hosted Postgres');
    await ui().clickWelcome('Computes', 'Try it with the local service');
    await ui().computes.waitForFirstProject();
    await ui().computes.waitFor(row);
    await ui().computes.expandProject('shop');
    await ui().computes.waitFor(new RegExp(`^Compute .*${compute}$`));
    await ui().waitForMessage(
      /^Computes can't start\. No Postgres \d+ to \d+ .* in \/.*hosted-postgres-test-/,
    );
    assert.deepEqual(new Set(await states()), new Set(['idle']));
  });

  it('explains a failed start, and offers to set up Postgres', async () => {
    await ui().computes.inlineAction(new RegExp(`^Compute .*${compute}$`), 'Start Compute');
    await ui().notifications.press(
      /Couldn't start the primary of main \(shop\): No Postgres/,
      'Set Up Postgres…',
    );
    await chooseFolder(path.join(folder, 'empty'));
    await ui().notifications.waitFor("Couldn't set up Postgres: No Postgres");
    await ui().notifications.clear();
    assert.deepEqual(new Set(await states()), new Set(['idle']));
  });

  it('starts computes once the user has chosen a folder with Postgres', async () => {
    await ui().computes.click(row);
    await chooseFolder(findPrograms(undefined).first ?? '');
    await ui().computes.waitUntilGone(row);
    await ui().waitForMessage(/^$/);
    await ui().computes.inlineAction(new RegExp(`^Compute .*${compute}$`), 'Start Compute');
    await ui().computes.waitFor(new RegExp(`^Compute .*, active, .*${compute}$`));
  });

  it('lists the extensions of SQL files then, with what is missing', async () => {
    writeFileSync(
      path.join(ui().folder, 'schema.sql'),
      'create extension citext; create extension quantum; create extension hypopg; create extension vector; -- create extension none;',
    );
    await ui().run('Set Up Postgres…');
    const prompt =
      'Extensions that your SQL files and hosted branches use. Pick one to copy its install command';
    assert.deepEqual(await ui().quickInput.waitForItems(prompt, 4), [
      'citext included',
      'hypopg missing',
      'quantum missing',
      `vector found in ${more}`,
    ]);
    await ui().quickInput.cancel(prompt);
    chmodSync(more, 0o777);
    await ui().run('Set Up Postgres…');
    const items = await ui().quickInput.waitForItems(prompt, 5);
    assert.deepEqual(items.slice(-2), ['vector missing', `${more} not used`]);
    await ui().quickInput.cancel(prompt);
  });
});
