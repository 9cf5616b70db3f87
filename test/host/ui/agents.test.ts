/** The story of an agent in a git worktree, which uses nothing but MCP, next to a window of VS Code with the packaged extension. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { getVariable } from '../../../src/extension/envFile/dotEnv.ts';
import { startAgent, type Agent } from '../../helpers/agent.ts';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { Editor } from '../../workbench/editor.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const run = promisify(execFile);

const SHOP = 'shiny-wind-028834';
const USERS_ENV = '# Mine\nDATABASE_URL=postgresql://me:secret@production.example.com/app\n';
const MIGRATION = '-- Up Migration\nCREATE TABLE pets (name text);\n-- Down Migration\nDROP TABLE pets;\n';

describe('An agent in a worktree', () => {
  const ui = useWorkbench({ isPackaged: true });
  const service = useService({ postgres: true, args: [] });
  let repository: GitRepository;
  const worktree = () => path.join(ui().folder, '..', 'task-1');
  let agent: Agent;
  let api: Api;
  let branchId: unknown;

  const names = async () => (await api.branches(SHOP)).map(({ name }) => name);
  const url = async () =>
    getVariable(await readFile(path.join(worktree(), '.env'), 'utf8'), 'DATABASE_URL') ?? '';
  /** As the agent does in its terminal. @returns what node-pg-migrate prints */
  const migrate = async () => {
    const program = path.join(projectRoot, 'node_modules/node-pg-migrate/bin/node-pg-migrate.js');
    const env = { ...process.env, DATABASE_URL: await url() };
    const { stdout } = await run(process.execPath, [program, 'up'], { cwd: worktree(), env });
    return stdout;
  };
  const sql = (text: string, more = {}) =>
    agent.call('runSql', { projectId: SHOP, branchId, sql: text, ...more });
  const openMenu = async () => {
    const { statusBar, quickInput } = ui();
    await statusBar.click('Agent branches');
    await quickInput.choose('.env', 'Agents…');
    return await quickInput.waitFor('Connect an agent');
  };

  before(async () => {
    repository = createRepository(ui().folder);
    await writeFile(path.join(repository.folder, '.gitignore'), '.env\n');
    await mkdir(path.join(repository.folder, 'migrations'));
    await writeFile(path.join(repository.folder, 'migrations/1700000000000_pets.sql'), MIGRATION);
    repository.git('add', '.');
    repository.git('commit', '--quiet', '--message=Pets');
    await writeFile(path.join(repository.folder, '.env'), USERS_ENV);
    repository.git('worktree', 'add', '--quiet', '-b', 'task-1', worktree());
    api = branchCalls(service());
    await connect(ui(), service());
    await ui().run('Copy MCP Configuration for…');
    await ui().quickInput.choose('For which agent?', 'Cursor');
    const { mcpServers } = JSON.parse(await ui().waitForClipboard(/mcpServers/));
    agent = await startAgent({ ...mcpServers['hosted-postgres'], cwd: worktree(), name: 'claude-code' });
  });
  after(async () => {
    await agent?.stop();
    await rm(worktree(), { recursive: true, force: true });
  });
  afterEach(async () => {
    assert.equal(await readFile(path.join(repository.folder, '.env'), 'utf8'), USERS_ENV);
    await ui().notifications.clear();
  });

  it('gets its own branch, whose URL is only in its env file', async () => {
    const inSome = agent.call('createBranch', { envFile: '.env' });
    await assert.rejects(inSome, /Name a projectId: shiny-wind-028834 \(shop\)/);
    const created = await agent.call('createBranch', { projectId: SHOP, envFile: '.env' });
    ({ branchId } = created);
    assert.doesNotMatch(JSON.stringify(created), /postgres(ql)?:\/\//);
    assert.match(await url(), /^postgresql:\/\/[^:]+:[^@]+@127\.0\.0\.1:/);
    const { mode } = await stat(path.join(worktree(), '.env'));
    assert.equal(mode & 0o777, 0o600);
    assert.ok((await names()).includes(String(created['name'])));
  });

  it('migrates, queries, compares, and starts over', async () => {
    assert.match(await migrate(), /Migrations complete/);
    await sql("INSERT INTO pets VALUES ('Ada')", { write: true });
    assert.deepEqual((await sql('SELECT name FROM pets'))['rows'], [['Ada']]);
    const { diff } = await agent.call('compareSchema', { projectId: SHOP, branchId });
    assert.match(String(diff), /^\+CREATE TABLE public\.pets/m);
    await agent.call('resetBranch', { projectId: SHOP, branchId });
    await assert.rejects(sql('SELECT name FROM pets'), /relation "pets" does not exist/);
    assert.match(await migrate(), /Migrations complete/);
    assert.deepEqual((await sql('SELECT name FROM pets'))['rows'], []);
  });

  it('is shown with its branches and calls, from the status bar', async () => {
    const main = (await api.branches(SHOP)).find(({ name }) => name === 'main');
    const drop = { projectId: SHOP, branchId: main?.id, sql: 'DROP TABLE orders', write: true };
    const refused = assert.rejects(agent.call('runSql', drop), /You may only read/);
    await refused;
    const { items } = await openMenu();
    assert.match(
      items[0] ?? '',
      /^agent\/claude-code-[0-9a-f]{4} by claude-code in task-1 · expires in 23 hours/,
    );
    const starts = (text: string) => items.findIndex((item) => item.startsWith(text));
    const dropped = ui().page.locator('.quick-input-list .monaco-list-row', { hasText: 'DROP TABLE orders' });
    assert.match(await dropped.innerText(), /claude-code · [^]*Failed: You may only read/);
    assert.ok(starts('runSql: DROP') < starts('Delete Agent Branches…'), items.join('\n'));
    assert.match(items.at(-1) ?? '', /^Copy Agent Instructions/);
    assert.ok(
      items.some((item) => item.startsWith('runSql: INSERT INTO pets VALUES (… claude-code')),
      items.join('\n'),
    );
    await ui().quickInput.cancel('Connect an agent');
  });

  it('deletes its branch', async () => {
    const before = await names();
    await agent.call('deleteBranch', { projectId: SHOP, branchId });
    assert.equal((await names()).length, before.length - 1);
    await ui().statusBar.waitUntilGone('Agent branches');
  });

  it('loses all its branches with Delete Agent Branches, after one confirmation', async () => {
    const before = await names();
    for (const name of ['one', 'two']) await agent.call('createBranch', { projectId: SHOP, name });
    await ui().run('Delete Agent Branches…');
    const items = await ui().quickInput.waitForItems('Agents have created them', 2);
    assert.match(items[0] ?? '', /^two by claude-code in task-1/);
    await ui().quickInput.accept('Agents have created them');
    assert.equal((await ui().dialog.read()).message, 'Delete 2 branches?');
    await ui().dialog.press('Delete');
    await until('the deletion', async () => (await names()).length === before.length);
    await ui().statusBar.waitUntilGone('Agent branches');
  });

  it('deletes no branch of the user by a key that was meant for an editor', async () => {
    const { branch } = await api.change('POST', `/${SHOP}/branches`, { branch: { name: 'mine' } });
    const remove = async () => agent.call('deleteBranch', { projectId: SHOP, branchId: branch.id });
    const { notifications, page } = ui();
    const editor = new Editor(page);
    await writeFile(path.join(ui().folder, 'notes.txt'), '');
    await ui().openFile('notes.txt');
    await editor.waitForFile('notes.txt');
    const rejected = assert.rejects(remove(), /The user did not approve this/);
    await page.locator('[id="status.notifications"] .codicon-bell-dot').waitFor();
    for (const key of ['Enter', 'Space', 'Enter']) await editor.press(key);
    await editor.waitForText('\n \n');
    const { message, buttons } = await notifications.waitFor(/Let claude-code delete/);
    assert.equal(
      message,
      `Let claude-code delete the branch mine (${branch.id}) of shop (${SHOP})? This can't be undone. Its data is deleted.`,
    );
    assert.deepEqual(buttons, ['Delete', 'Reject']);
    assert.ok((await names()).includes('mine'));
    await notifications.press(/Let claude-code delete/, 'Reject');
    await rejected;
    const removed = remove();
    await notifications.press(/Let claude-code delete/, 'Delete');
    await removed;
    assert.ok(!(await names()).includes('mine'));
  });

  it('is added to .mcp.json after a look at the difference, and to none that is not valid', async () => {
    const file = path.join(ui().folder, '.mcp.json');
    const others = '{\n  // mine\n  "mcpServers": {\n    "other": {}\n  }\n}\n';
    const add = async () => {
      await ui().run('Copy MCP Configuration for…');
      await ui().quickInput.choose('For which agent?', 'Add to folder/.mcp.json');
    };
    await writeFile(file, others);
    await add();
    await ui()
      .page.locator('.editor.modified .view-line')
      .filter({ hasText: 'hosted-postgres' })
      .first()
      .waitFor();
    assert.equal(await readFile(file, 'utf8'), others);
    await ui().quickInput.choose('Add the MCP server to .mcp.json?', 'Write');
    await ui().statusBar.waitFor('Wrote .mcp.json');
    const text = await readFile(file, 'utf8');
    assert.match(
      text,
      /^\{\n {2}\/\/ mine\n {2}"mcpServers": \{\n {4}"hosted-postgres": \{\n[^]*,\n {4}"other": \{\}\n/,
    );
    await writeFile(file, '{');
    await add();
    const { buttons } = await ui().notifications.waitFor("Couldn't add the MCP server, because .mcp.json");
    assert.deepEqual(buttons, ['Open']);
    assert.equal(await readFile(file, 'utf8'), '{');
  });

  it('finds instructions in the clipboard', async () => {
    await ui().run('Copy Agent Instructions');
    const text = await ui().waitForClipboard(/^## Database\n/);
    assert.match(text, /createBranch/);
    assert.ok(text.length < 1000);
  });
});
