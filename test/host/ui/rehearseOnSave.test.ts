/** A migration that is rehearsed when it is saved: what is dangerous is a problem at its statement, in English and German. */
import assert from 'node:assert/strict';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const SETTING = 'hostedPostgres.rehearse.onSave';
const DROP = 'update users set age = 1;\nalter table users\n  drop column nick;';
const SAFE = 'alter table users add column city text;';
const LOSS = 'Loses 1,204 values of public.users.nick.';
/** As dbmate has them. */
const migration = (up: string, down = 'select 1;') => `-- migrate:up\n${up}\n-- migrate:down\n${down}\n`;

describe('On save, a migration is rehearsed', () => {
  const ui = useWorkbench({ settings: {} });
  let service: LocalService;
  let api: ReturnType<typeof branchCalls>;
  let uri: string;

  const write = async (name: string, text: string) => {
    const file = path.join(ui().folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  /** The rows of the Problems view, without those of files. */
  const problems = async () => {
    const rows = ui().page.locator('.markers-panel .monaco-list-row .marker-message-details-container');
    return (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
  };
  const shown = async (expected: string, place: string) =>
    until(
      async () => `${expected} in ${JSON.stringify(await problems())}`,
      async () => (await problems()).some((each) => each.includes(expected) && each.includes(place)),
    );
  const noProblem = async () => until('no problem', async () => (await problems()).length === 0);
  const copies = async () =>
    (await api.branches(PROJECT)).filter(({ name }) => name.startsWith('rehearsal-'));
  const noCopy = async () => until('no copy', async () => (await copies()).length === 0);
  /** How many branches there were for rehearsals so far. */
  const rehearsals = async () => {
    const { operations } = await api.send<{ operations: { action: string }[] }>(
      'GET',
      `/${PROJECT}/operations?limit=1000`,
    );
    return operations.filter(({ action }) => action === 'create_branch').length;
  };
  const protect = async (isProtected: boolean) => {
    await api.change('PATCH', `/${PROJECT}/branches/${main}`, { branch: { protected: isProtected } });
  };
  const set = async (isOn: boolean, title: string) => {
    await write('.vscode/settings.json', JSON.stringify({ [SETTING]: isOn, 'window.title': title }));
    await until(title, async () => (await ui().page.title()).includes(title));
  };
  /** Opens the file with this text, saves it again, and waits until it is written. */
  const save = async (name: string, text: string) => {
    await write(name, text);
    await ui().openFile(name);
    await new Editor(ui().page).waitForText(text);
    const changed = async () => (await stat(path.join(ui().folder, name))).mtimeMs;
    const before = await changed();
    await ui().page.keyboard.press('ControlOrMeta+s');
    await until(`${name} to be saved`, async () => (await changed()) > before);
  };

  before(async () => {
    service = await startLocalService();
    api = branchCalls(service);
    uri = await branchApi(() => service, main).uri();
    await query(uri, 'create table users (id int primary key, nick text, email text)');
    await query(
      uri,
      "insert into users select g, case when g <= 1204 then 'n' end, 'e' || g % 1500 from generate_series(1, 2000) g",
    );
    await query(uri, 'create table schema_migrations (version varchar primary key)');
    await query(uri, "insert into schema_migrations values ('1')");
    await write('.env', `DATABASE_URL=${uri}\n`);
    await write('db/1_users.sql', migration('create table users (id int);'));
    await write('db/2_age.sql', migration('alter table users add column age int;'));
    await write('db/3_nick.sql', migration(SAFE));
    await write('notes.sql', SAFE);
    await connect(ui(), service, 'shop');
    await ui().statusBar.waitFor(/^main/);
    await ui().runCommand('Problems: Focus on Problems View');
  });

  it('after those before it that are not applied, and a loss is a problem at its statement', async () => {
    await set(true, 'The setting is on');
    await save('db/3_nick.sql', migration(DROP));
    await shown(LOSS, '[Ln 3, Col 1]');
  });

  it('and leaves neither a copy nor a change', async () => {
    await noCopy();
    assert.deepEqual(await query(uri, 'select count(nick)::int from users'), [1204]);
  });

  it('until a later version is safe', async () => {
    await save('db/3_nick.sql', migration(SAFE));
    await noProblem();
  });

  it('and says where it fails, until the file is closed', async () => {
    await save('db/3_nick.sql', migration('select 1;\ncreate unique index on users (email);'));
    await shown('could not create unique index', '[Ln 3, Col 1]');
    await ui().runCommand('View: Close All Editors');
    await noProblem();
    await noCopy();
  });

  it('but no longer when it is saved again, which ends the rehearsal before', async () => {
    await save('db/3_nick.sql', migration('select pg_sleep(600);'));
    await until('its copy', async () => (await copies()).length === 1);
    await save('db/3_nick.sql', migration(DROP));
    await shown(LOSS, '[Ln 3, Col 1]');
    await noCopy();
  });

  it('but none that is applied, that no tool is for, or whose branch is protected', async () => {
    const rehearsed = await rehearsals();
    await save('db/1_users.sql', migration('create table users (id int);'));
    await save('notes.sql', 'drop table users;');
    await protect(true);
    await save('db/3_nick.sql', migration(DROP));
    await noProblem();
    await protect(false);
    await save('db/3_nick.sql', migration(DROP));
    await shown(LOSS, '[Ln 3, Col 1]');
    await noCopy();
    assert.equal((await problems()).length, 1);
    assert.equal(await rehearsals(), rehearsed + 2);
  });

  it('and any other file once the user has rehearsed it', async () => {
    await save('notes.sql', 'drop table users;');
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', 'notes.sql');
    await ui().quickInput.choose('Select the branch to copy for the rehearsal', 'main');
    await ui().dialog.press('Rehearse');
    await ui().statusBar.waitFor('Loses 2,000 rows of public.users.');
    await save('notes.sql', 'drop table users;');
    await shown('Loses 2,000 rows of public.users.', '[Ln 1, Col 1]');
  });

  it('no longer when the setting is off', async () => {
    await set(false, 'The setting is off');
    await noProblem();
    const rehearsed = await rehearsals();
    await save('db/3_nick.sql', migration(DROP));
    await set(true, 'The setting is on again');
    await save('db/2_age.sql', migration('drop table users;'));
    await shown('Loses 2,000 rows of public.users.', '[Ln 2, Col 1]');
    assert.equal((await problems()).length, 1);
    await noCopy();
    assert.equal(await rehearsals(), rehearsed + 2);
  });
});
