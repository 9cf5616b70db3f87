/** Rehearse Migration: a document about what a migration does to others and to the data. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { processTree } from '../../workbench/processes.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { closeEditors } from './resetWindow.ts';
import { MAIL_SERVER, READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

const COPY_OF = 'Select the branch to copy for the rehearsal';

describe('A migration is rehearsed', () => {
  const ui = useWorkbench({ settings: READABLE_TERMINALS, env: MAIL_SERVER });
  let service: LocalService;
  let api: ReturnType<typeof branchCalls>;
  let uri: string;

  /** The text in the preview, which is in two frames. */
  const preview = () =>
    ui().page.frameLocator('iframe.webview.ready').frameLocator('iframe[title]').locator('body');
  const copies = async () =>
    (await api.branches(PROJECT)).filter(({ name }) => name.startsWith('rehearsal-'));
  const file = async (name: string, sql: string) => writeFile(path.join(ui().folder, name), sql);

  before(async () => {
    service = await startLocalService();
    api = branchCalls(service);
    uri = await branchApi(() => service, main).uri();
    await query(uri, 'create table users (id int primary key, nick text, email text)');
    await query(
      uri,
      "insert into users select g, case when g <= 1204 then 'n' end, 'e' || g % 1500 from generate_series(1, 2000) g",
    );
    await file('0001_drop.sql', 'begin;\nalter table users drop column nick;\ncommit;\n');
    await file('0002_unique.sql', 'create unique index on users (email);\n');
    await file('0003_slow.sql', 'select pg_sleep(600);\n');
    await file('package.json', '{ "devDependencies": { "knex": "3" } }');
    await connect(ui(), service, 'shop');
    // The branch of the selected row is proposed.
    await ui().computes.click(`Branch main, default, ${main}`);
  });
  beforeEach(async () => closeEditors(ui()));

  it('that drops a column with values, after a question, asked once, about what happens for real', async () => {
    await ui().openFile('0001_drop.sql');
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', '0001_drop.sql');
    await ui().quickInput.choose(COPY_OF, 'main');
    const { message, detail } = await ui().dialog.read();
    assert.equal(message, 'Rehearse 0001_drop.sql on a copy of main (shop)?');
    assert.match(detail, /is done for real/);
    await ui().dialog.press('Rehearse');
    await preview().getByRole('heading', { name: 'Loses 1,204 values of public.users.nick.' }).waitFor();
    const row = preview().getByRole('row').filter({ hasText: 'alter table users drop column nick' });
    await row.getByText(/^reads and writes of public\.users: up to [\d.]+ (?:ms|sec)$/).waitFor();
    await preview()
      .getByText(/^0001_drop\.sql on a copy of main, .* The copy is deleted/)
      .waitFor();
    await ui().statusBar.waitFor('Loses 1,204 values of public.users.nick.');
    assert.deepEqual(await copies(), []);
    assert.deepEqual(await query(uri, 'select count(nick)::int from users'), [1204]);
  });

  const rehearseUnique = async () => {
    await ui().openFile('0002_unique.sql');
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', '0002_unique.sql');
    await ui().quickInput.choose(COPY_OF, 'main');
    await preview()
      .getByRole('heading', {
        name: /^Fails at “create unique index on users \(email\);?”: could not create/,
      })
      .waitFor();
  };

  it('that fails, with the statement and the reason', async () => {
    await rehearseUnique();
    assert.deepEqual(await copies(), []);
  });

  it('by a command that the user enters, with the one of the project’s tool in the list', async () => {
    await ui().computes.contextMenu(
      `Branch main, default, ${main}`,
      'Data and History',
      'Rehearse Migration…',
    );
    const [item = ''] = await ui().quickInput.waitForItems('Select what to rehearse', 1);
    assert.match(item, /npx knex migrate:latest/);
    const script = `require(${JSON.stringify(path.resolve('node_modules/pg'))})`;
    const command = `"${process.execPath}" -e 'const c = new (${script}).Client(process.env.DATABASE_URL); c.connect().then(() => c.query("delete from users where id < 8")).then(() => c.end())'`;
    await ui().quickInput.answer('Select what to rehearse', command);
    await preview().getByRole('heading', { name: 'Loses 7 rows of public.users.' }).waitFor();
    await preview()
      .getByText(/^These variables .*: MAIL_HOST, MAIL_PASSWORD\. .* HOSTED_POSTGRES_OTHER_SERVICES=MAIL_ /)
      .waitFor();
    assert.deepEqual(await copies(), []);
  });

  it('until the user cancels it, and then the copy goes, too', async () => {
    await ui().openFile('0003_slow.sql');
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', '0003_slow.sql');
    await ui().quickInput.choose(COPY_OF, 'main');
    await until('the copy', async () => (await copies()).length === 1);
    await ui().notifications.press('Rehearsing 0003_slow.sql on a copy of main', 'Cancel');
    await until('no copy', async () => (await copies()).length === 0);
  });

  it('in a window that is killed, whose copy goes with the next rehearsal', async function () {
    if (process.platform !== 'linux') this.skip();
    const extensionHosts = async () => {
      const all = await processTree([ui().server.pid]);
      const args = await Promise.all(
        all.map(async (pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
      );
      return all.filter((_, index) => args[index]?.includes('--type=extensionHost'));
    };
    const others = await extensionHosts();
    const window = await ui().openWindow();
    await window.openView('Hosted Postgres');
    await window.computes.click(`Branch main, default, ${main}`);
    await window.openFile('0003_slow.sql');
    await window.run('Rehearse Migration…');
    await window.quickInput.choose('Select what to rehearse', '0003_slow.sql');
    await window.quickInput.choose(COPY_OF, 'main');
    await window.dialog.press('Rehearse');
    await until('the copy', async () => (await copies()).length === 1);
    const [own = 0] = (await extensionHosts()).filter((pid) => !others.includes(pid));
    process.kill(own, 'SIGKILL');
    await window.page.close();
    const left = (await copies()).map(({ id, expires_at }) => ({ id, expires_at }));
    assert.equal(left.length, 1);
    assert.ok(left[0]?.expires_at, 'no copy stays for ever');
    await rehearseUnique();
    assert.deepEqual(await copies(), []);
  });

  it('not on a branch that expires, which has no copies', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await api.createBranch(PROJECT, { name: 'brief', expires_at });
    await ui().run('Refresh');
    await ui().openFile('0001_drop.sql');
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', '0001_drop.sql');
    await ui().quickInput.choose(COPY_OF, 'brief');
    await ui().notifications.waitFor('brief expires on');
    await ui().notifications.clear();
    const [brief] = (await api.branches(PROJECT)).filter(({ name }) => name === 'brief');
    assert.equal(brief?.expires_at, expires_at);
  });
});
