/** Rows of tables and queries, and what differs between two branches. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../../src/base/programs/findProgram.ts';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { Editor } from '../../workbench/editor.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { closeEditors } from './resetWindow.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('The rows of a branch', () => {
  const ui = useWorkbench({ settings: READABLE_TERMINALS });
  let service: LocalService;
  let feature: string;
  let api: ReturnType<typeof branchCalls>;

  const execute = async (branch: string, sql: string) =>
    query(await branchApi(() => service, branch).uri(), sql);
  const tabs = () => ui().page.locator('.tabs-container .tab');
  const activeTab = async () => tabs().and(ui().page.locator('.active')).last().getAttribute('aria-label');
  const waitForTitle = async (title: RegExp) =>
    until(
      async () => `a tab ${String(title)}; it is ${await activeTab()}`,
      async () => title.test((await activeTab()) ?? ''),
    );
  /** Reads the visible lines of the editor that has the focus. */
  const lines = async (editor = '.editor-group-container.active .monaco-editor') => {
    const shown = ui().page.locator(`${editor} .view-line`);
    return (await shown.allInnerTexts()).map((line) => line.replaceAll('\u00a0', ' '));
  };
  const waitForLine = async (line: RegExp, editor?: string) =>
    until(
      async () => `${String(line)}; shown: ${JSON.stringify(await lines(editor))}`,
      async () => (await lines(editor)).some((text) => line.test(text)),
    );

  before(async () => {
    service = await startLocalService();
    await execute(main, 'create table visits (id int primary key, customer text, note text)');
    await execute(
      main,
      "insert into visits values (1, 'Ada', null), (2, 'Bob', 'x'), (3, E'[l](command:x)\u202e', 'NULL')",
    );
    api = branchCalls(service);
    const endpoints = [{ type: 'read_write' }];
    const branch = { name: 'feature', parent_id: main };
    feature = (await api.change('POST', `/${PROJECT}/branches`, { branch, endpoints })).branch.id;
    await execute(feature, "update visits set customer = 'Bea' where id = 2");
    await execute(feature, 'delete from visits where id = 1');
    await execute(feature, "insert into visits values (4, 'Dan', null), (5, 'Eve', null)");
    await writeFile(
      path.join(ui().folder, 'query.sql'),
      'select 1 as one;\n\nselect customer from visits order by id;\n',
    );
    await writeFile(path.join(ui().folder, 'seed.sql'), 'select id from gone;\n');
    await connect(ui(), service, 'shop');
    await ui().computes.waitFor(`Branch feature, ${feature}`);
  });
  after(() => service.stop());

  it('are shown for a table, in a document that says where and when they were read', async () => {
    await ui().computes.contextMenu(`Branch main, default, ${main}`, 'Data and History', 'Peek Rows…');
    await ui().quickInput.choose('Select a table or view', 'visits');
    await waitForTitle(/^visits · main · app · \d/);
    await waitForLine(/^Project shop, branch main, database app$/);
    await waitForLine(/^ 1 │ Ada +│ NULL$/);
    await waitForLine(/^ 3 │ \[l\]\(command:x\)‹U\+202E› │ 'NULL'$/);
    await waitForLine(/^3 rows$/);
    await ui().statusBar.waitFor('visits on main: 3 rows');
    await ui().page.keyboard.type('x');
    assert.ok((await lines()).every((line) => !line.startsWith('x')));
  });

  it('are read again by a button, with a new time', async () => {
    await execute(main, "insert into visits values (6, 'Fay', null)");
    const before = await tabs().count();
    await ui().page.getByRole('button', { name: 'Refresh Rows' }).click();
    await waitForLine(/^ 6 │ Fay/);
    await until('the older document to close', async () => (await tabs().count()) === before);
  });

  it('are shown next to a SQL file, for the statement at its cursor', async () => {
    await ui().openFile('query.sql');
    await ui().page.keyboard.press('ControlOrMeta+End');
    await ui().run('Peek Rows…');
    await ui().quickInput.choose('Select a project', 'shop');
    await ui().quickInput.choose('Select a branch', 'feature');
    await waitForTitle(/^select customer from visits o… · feature · app · \d/);
    await waitForLine(/^Bea$/);
  });

  it('are shown for the table at the cursor of a schema', async () => {
    await ui().computes.contextMenu(`Branch feature, ${feature}`, 'Data and History', 'Open Schema');
    await waitForTitle(/^feature\.app\.sql/);
    // The editor draws only the lines in view.
    await ui().page.locator('.editor-group-container.active .monaco-editor').first().click();
    await ui().page.keyboard.press('ControlOrMeta+f');
    await ui().page.keyboard.type('CREATE TABLE public.visits');
    await ui().page.keyboard.press('Escape');
    await ui().run('Peek Rows…');
    await waitForTitle(/^visits · feature · app · \d/);
    await waitForLine(/^ 5 │ Eve/);
  });

  it('are compared with those of the parent in a diff editor, which counts what differs', async () => {
    await ui().computes.contextMenu(`Branch feature, ${feature}`, 'Data and History', 'Compare Rows…');
    await ui().quickInput.choose('Select a table or view', 'visits');
    await waitForTitle(/^visits: 2 added, 1 changed, 2 deleted \(main ↔ feature\)/);
    await waitForLine(/^ 1 │ Ada/, '.editor.original');
    await waitForLine(/^ 2 │ Bob/, '.editor.original');
    await waitForLine(/^ 2 │ Bea/, '.editor.modified');
    await waitForLine(/^ 4 │ Dan/, '.editor.modified');
    await execute(feature, 'delete from visits where id = 4');
    await ui().page.getByRole('button', { name: 'Refresh Rows' }).click();
    await waitForTitle(/^visits: 1 added, 1 changed, 2 deleted \(main ↔ feature\)/);
  });

  it('are compared with those of a branch without a compute, such as what Undo has kept, by a temporary branch', async () => {
    const branch = { name: 'kept', parent_id: feature };
    const kept = (await api.change('POST', `/${PROJECT}/branches`, { branch })).branch.id;
    await execute(feature, "insert into visits values (6, 'Fay', null)");
    await ui().run('Refresh');
    await ui().computes.contextMenu(new RegExp(kept), 'Data and History', 'Compare Rows…');
    await ui().quickInput.choose('Select a table or view', 'visits');
    await waitForTitle(/^visits: 1 added \(kept ↔ feature\)/);
    await until('only the branches from before', async () =>
      (await api.branches(PROJECT)).every(({ name }) => !name.startsWith('look-')),
    );
    await api.change('DELETE', `/${PROJECT}/branches/${kept}`);
    await execute(feature, 'delete from visits where id = 6');
    // A row that is expanded while the branch's rows are drawn again stays collapsed.
    await ui().run('Refresh');
    await ui().computes.waitUntilGone(new RegExp(kept));
  });

  it('are reached by the databases and tables below a branch, which load when they are expanded', async () => {
    await closeEditors(ui());
    await ui().computes.expand('Databases of main');
    await ui().computes.expand('Database app');
    await ui().computes.click('Table visits');
    await waitForTitle(/^visits · main · app · \d/);
    await ui().computes.contextMenu('Table visits', 'Compare Rows…');
    await ui().quickInput.choose('Select the branch to compare with', 'feature');
    await waitForTitle(/^visits: .* \(main ↔ feature\)/);
    await execute(main, 'create view "a.b" as select 1 as one');
    await execute(main, "create function add_visit(a int) returns int language sql as 'select 1'");
    await ui().computes.contextMenu('Database app', 'Refresh');
    await ui().computes.waitFor('View a.b');
    await ui().computes.waitFor('Function add_visit(a integer)');
  });

  it('have columns, whose names can be copied', async () => {
    await ui().computes.expand('Table visits');
    await ui().computes.waitFor('Primary key column id, integer not null');
    await ui().computes.contextMenu('Column customer, text', 'Copy Name');
    await ui().waitForClipboard(/^customer$/);
  });

  it('are reached by psql and connection strings from the menus of the databases', async () => {
    await execute(main, 'create database second');
    await ui().computes.inlineAction('Databases of main', 'Refresh');
    await ui().computes.contextMenu('Database second', 'Copy Connection String…');
    await ui().waitForClipboard(/^postgresql:\/\/app_owner:[^@]+@127\.0\.0\.1:\d+\/second$/);
    if (findProgram('psql') === undefined) return;
    await ui().computes.contextMenu('Database second', 'Open psql');
    await ui().terminal.waitFor(/second=>/);
    await ui().terminal.focus();
    await ui().page.keyboard.type('\\q');
    await ui().page.keyboard.press('Enter');
    await ui().terminal.closed();
  });

  describe('and a SQL file', () => {
    const runOnFeature = async () => {
      await ui().run('Run File on Branch…');
      await ui().quickInput.choose('Select a branch', 'feature');
    };

    before(async () => closeEditors(ui()));

    it('that is saved and run on a branch, in a terminal with its output', async () => {
      await ui().openFile('seed.sql');
      await new Editor(ui().page).retype("insert into visits values (7, 'Gus');");
      await runOnFeature();
      await ui().terminal.waitFor(
        /seed\.sql\s+shop \/ feature \/ app\s+INSERT 0 1\s+Ran seed\.sql on feature/,
      );
      await ui()
        .page.locator('.single-terminal-tab')
        .filter({ hasText: 'seed.sql · shop / feature' })
        .waitFor();
      assert.deepEqual(await execute(feature, 'select customer from visits where id = 7'), ['Gus']);
      await ui().terminal.focus();
      await ui().page.keyboard.press('Enter');
      await ui().terminal.closed();
    });

    it('that fails, with its line', async () => {
      await runOnFeature();
      await ui().terminal.waitFor(
        /seed\.sql(?::1|, line 1): [^]*duplicate key[^]*seed\.sql failed on feature/,
      );
      await ui().terminal.focus();
      await ui().page.keyboard.press('Enter');
      await ui().terminal.closed();
    });

    it('that runs until Ctrl+C', async () => {
      await ui().openFile('seed.sql');
      await new Editor(ui().page).retype('select pg_sleep(600);');
      await runOnFeature();
      await ui().terminal.waitFor(/shop \/ feature \/ app/);
      await until('the statement', async () => {
        const sql = "select 1 from pg_stat_activity where query like 'select pg_sleep(600)%'";
        return (await execute(feature, sql)).length > 0;
      });
      await ui().terminal.focus();
      await ui().page.keyboard.press('Control+c');
      await ui().terminal.waitFor(/\^C[^]*Canceled\./);
      await ui().page.keyboard.press('Enter');
      await ui().terminal.closed();
    });

    it('whose run on a protected branch needs its name', async () => {
      await api.change('PATCH', `/${PROJECT}/branches/${feature}`, { branch: { protected: true } });
      await ui().openFile('seed.sql');
      await new Editor(ui().page).retype('delete from visits;');
      await runOnFeature();
      await ui().quickInput.waitFor('This is production. Enter “feature” to continue.');
      await ui().quickInput.cancel(/./);
      assert.notDeepEqual(await execute(feature, 'select id from visits'), []);
    });
  });
});
