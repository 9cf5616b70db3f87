/**
 * A database that follows git back before migrations, in a real repository. Another program applies them.
 * Timers: extension/history/ui/offerUndo.ts.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { branchMapWriter } from '../../../src/extension/gitBranch/branchMap.ts';
import { createGitRunner } from '../../../src/base/git/runGit.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { branchApi, BRANCH } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** Applies what isn't applied yet, and notes it, as Knex does. */
const PROGRAM = `
const { Client } = require(${JSON.stringify(createRequire(import.meta.url).resolve('pg'))});
const { readFileSync, readdirSync } = require('node:fs');
(async () => {
  const client = new Client({ connectionString: readFileSync('.env', 'utf8').replace('DATABASE_URL=', '').trim() });
  await client.connect();
  await client.query('create table if not exists knex_migrations (id serial primary key, name varchar(255), batch int, migration_time timestamptz)');
  const { rows } = await client.query('select name from knex_migrations');
  for (const name of readdirSync('packages/db/changes').sort()) {
    if (rows.some((row) => row.name === name)) continue;
    await client.query('begin');
    await client.query(readFileSync('packages/db/changes/' + name, 'utf8'));
    await client.query('insert into knex_migrations (name) values ($1)', [name]);
    await client.query('commit');
  }
  await client.end();
})();
`;

const QUESTION = 'Select the moment that main (shop) goes back to';

describe('A checkout before migrations', () => {
  const ui = useWorkbench({ settings: {} });
  let service: LocalService;
  let repository: GitRepository;
  let uri: string;

  const write = (file: string, text: string) => writeFile(path.join(repository.folder, file), text);
  /** Migrates as another terminal does, of which VS Code knows nothing. */
  const migrate = () => execFileSync(process.execPath, ['migrate.cjs'], { cwd: repository.folder });
  const commit = (message: string) => {
    repository.git('add', '.');
    repository.git('commit', '--quiet', `--message=${message}`);
  };
  const applied = () => query(uri, 'select name from knex_migrations order by name').catch(() => []);
  const messages = async () => (await ui().notifications.all()).map(({ message }) => message);

  before(async () => {
    service = await startLocalService();
    const api = branchApi(() => service, BRANCH);
    uri = await api.uri();
    await query(uri, 'select 1');
    await api.waitForHistory();
    repository = createRepository().at(ui().folder);
    repository.git('init', '--quiet', '--initial-branch=main', '--template=');
    for (const folder of ['.vscode', 'packages/db/changes'])
      await mkdir(path.join(repository.folder, folder), { recursive: true });
    await write('.gitignore', '.env\n.vscode\nmigrate.cjs\n');
    await write('migrate.cjs', PROGRAM);
    await write('.env', `DATABASE_URL=${uri}\n`);
    await write('packages/db/changes/1.sql', 'create table users (id int)');
    await branchMapWriter(
      createGitRunner(() => 'git'),
      repository.folder,
    ).setFollowed(true);
    await connect(ui(), service, 'shop');
    await ui().statusBar.waitFor(/^main /);
    // The window has seen the repository before its first commit.
    repository.git('commit', '--quiet', '--allow-empty', '--message=First');
    commit('Users');
    migrate();
    await query(uri, 'insert into users values (1)');
    await write('packages/db/changes/2.sql', 'alter table users add column email text');
    commit('Email');
    migrate();
    await query(uri, 'insert into users values (2)');
  });
  afterEach(() => ui().notifications.clear());

  it('is not needed to go back: Undo… lists the moments before migrations, with what has changed since', async () => {
    await ui().run('Undo…');
    const items = await until('the changes', async () => {
      const all = (await ui().quickInput.waitFor(QUESTION)).items;
      const found = all.filter((item) => /^Before (?:a migration|2 migrations) /.test(item));
      return found.length > 0 && found.every((item) => item.includes(' · since then: ')) ? found : undefined;
    });
    // Both were applied within ten seconds, or on a slow machine within more.
    assert.match(items.at(-1) ?? '', / users created/);
    await ui().quickInput.cancel(QUESTION);
  });

  it('offers nothing while the setting is off', async () => {
    repository.git('checkout', '--quiet', 'HEAD~2');
    await ui().statusBar.waitFor('main (paused: no Git branch)');
    const settings = { 'hostedPostgres.undo.offerAfterCheckout': true, 'window.title': 'The setting is on' };
    await write('.vscode/settings.json', JSON.stringify(settings));
    await until('the setting', async () => (await ui().page.title()).includes('The setting is on'));
    // The extension learns of the setting after the title, but before a command.
    await ui().run('Undo…');
    await ui().quickInput.waitFor(QUESTION);
    await ui().quickInput.cancel(QUESTION);
    repository.git('checkout', '--quiet', 'main~1');
    await ui().notifications.waitFor("main (shop) has a migration that this commit doesn't have.");
    assert.deepEqual(
      (await messages()).filter((message) => message.includes('2 migrations')),
      [],
    );
  });

  it('offers the database from before them, with the rows from then, under the same connection string', async () => {
    repository.git('checkout', '--quiet', 'main');
    await ui().statusBar.waitUntilGone('(paused');
    repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    const question =
      "main (shop) has a migration that this commit doesn't have. Take the database branch back to just before it";
    await ui().notifications.press(question, 'Go Back');
    await ui().notifications.waitFor(
      /^Undid main \(shop\)\. You selected: Before the later migrations\. Its previous data is kept as/,
    );
    await until('the earlier database', async () => (await applied()).join() === '1.sql');
    assert.deepEqual(await query(uri, 'select * from users'), [1]);
    assert.equal(await readFile(path.join(repository.folder, '.env'), 'utf8'), `DATABASE_URL=${uri}\n`);
  });

  it('offers it again before the first one', async () => {
    repository.git('checkout', '--quiet', 'HEAD~1');
    const question = "main (shop) has a migration that this commit doesn't have.";
    await ui().notifications.press(question, 'Go Back');
    await ui().notifications.waitFor('Undid main (shop). You selected: Before the later migrations.');
    await until(
      'the empty database',
      async () => (await query(uri, "select to_regclass('users')").catch(() => ['']))[0] === null,
    );
  });
});
