import { answers, dialogs, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createGitRunner } from '../../../../../src/base/git/runGit.ts';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import type { ToolInput, ToolName, ToolOutput } from '../../../../../src/extension/agents/tools/toolTable.ts';
import { branchMapWriter } from '../../../../../src/extension/gitBranch/branchMap.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { computeRecord, operationRecord, type Script } from '../../../../helpers/scriptedService.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';
import { until } from '../../../../workbench/until.ts';

interface Record {
  readonly id: string;
  readonly name: string;
  readonly parent_id?: string;
  readonly expires_at?: string;
  readonly [field: string]: unknown;
}

const hostOf = (branchId: string) => `ep-${branchId}.example.test`;
const computeOf = (branchId: string) =>
  computeRecord(`ep-${branchId}`, { branch_id: branchId, host: hostOf(branchId) });
const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('Tools for branches', () => {
  let model: ScriptedModel;
  let projects: { readonly id: string; readonly name: string }[];
  let branches: Record[];
  let operations: unknown[];
  let password: string | undefined;
  let folder: string;

  const script: Script = (call, query) => {
    if (call === 'GET /projects') return { projects };
    if (call.endsWith('/connection_uri')) {
      const host = query?.get('pooled') === 'true' ? 'ep-br-new-pooler.example.test' : hostOf('br-new');
      return password === undefined ? 404 : { uri: `postgresql://app_owner:${password}@${host}/app` };
    }
    if (call.endsWith('/reset_password')) return { role: { name: 'app_owner', password: 'x' } };
    if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'app_owner' }] };
    if (call.endsWith('/roles')) return { roles: [{ name: 'app_owner' }] };
    if (call.startsWith('GET') && call.endsWith('/branches')) return { branches };
    if (call.startsWith('GET') && call.endsWith('/endpoints'))
      return { endpoints: branches.map(({ id }) => computeOf(id)) };
    if (call.includes('/operations/')) return { operation: operations[0] };
    if (call.startsWith('POST') && call.endsWith('/branches')) {
      const branch = { id: 'br-new', name: 'agent/new', parent_id: 'br-main', expires_at: later() };
      branches.push(branch);
      const endpoints = [computeOf('br-new')];
      return { branch, endpoints, operations };
    }
    return { branch: branches.at(-1), operations };
  };

  const call = <N extends ToolName>(name: N, input: ToolInput<N>, by: object = {}) =>
    callTool(toolDependencies(model), name, input, { folder, ...by }) as Promise<ToolOutput<N>>;
  const remember = (branchId: string) =>
    model.agentBranches.add({
      account: accountId(model.account),
      projectId: 'shop',
      branchId,
      name: branchId,
      agent: 'claude',
      createdAt: new Date().toISOString(),
      expiresAt: later(),
    });
  const sent = () => model.service.requests.filter((each) => !/^GET|reset_password$/.test(each));

  beforeEach(async () => {
    answers.length = questions.length = dialogs.length = 0;
    projects = [{ id: 'shop', name: 'Shop' }];
    branches = [{ id: 'br-main', name: 'main', default: true }];
    [operations, password] = [[], 'first'];
    folder = realpathSync(temporaryFolder());
    model = await connectScripted(script);
  });

  it('use the only project, or name all', async () => {
    assert.equal((await call('listBranches', {})).projectId, 'shop');
    projects = [...projects, { id: 'blog', name: 'My blog' }];
    await model.inventory.refreshProjects();
    await assert.rejects(call('listBranches', {}), /Name a projectId: shop \(Shop\), blog \(My blog\)$/);
    assert.equal((await call('listBranches', { projectId: 'blog' })).projectId, 'blog');
    projects = [];
    await model.inventory.refreshProjects();
    await assert.rejects(call('listBranches', {}), /The account has no project/);
  });

  it('use the project and parent that the user has chosen for the repository', async () => {
    projects = [...projects, { id: 'blog', name: 'My blog' }];
    branches.push({ id: 'br-staging', name: 'staging', parent_id: 'br-main' });
    const repository = createRepository(path.join(folder, 'repository'));
    ({ folder } = repository);
    const map = branchMapWriter(
      createGitRunner(() => 'git'),
      folder,
    );
    await map.setParent({ account: accountId(model.account), projectId: 'blog', branchId: 'br-staging' });
    assert.equal((await call('listBranches', {})).projectId, 'blog');
    await call('createBranch', {});
    assert.deepEqual(sent(), ['POST /projects/blog/branches']);
    await map.setParent({ account: 'another', projectId: 'blog', branchId: 'br-staging' });
    await assert.rejects(call('listBranches', {}), /Name a projectId/);
  });

  it('create no branch of one that expires or does not exist', async () => {
    branches.push({ id: 'br-short', name: 'short', parent_id: 'br-main', expires_at: later() });
    await assert.rejects(call('createBranch', { parentId: 'br-short' }), /br-short expires/);
    await assert.rejects(call('createBranch', { parentId: 'br-other' }), /shop has no branch br-other/);
    await assert.rejects(call('createBranch', { name: 'main' }), /a branch with this name: br-main/);
    await assert.rejects(call('createBranch', { database: 'x' }), /no database x\. It has: app/);
    assert.deepEqual(sent(), []);
  });

  it('are not created in a read-only project, and with its name in production', async () => {
    model.marks['shop'] = 'readOnly';
    await assert.rejects(call('createBranch', {}), /protected the project/);
    model.marks['shop'] = 'production';
    await assert.rejects(call('createBranch', {}), /did not approve/);
    assert.deepEqual([sent(), dialogs], [[], []]);
    answers.push('Create', 'Shop');
    await call('createBranch', {});
    assert.match(dialogs.join(), /^Let claude create a branch in Shop \(shop\)\? This is production/);
  });

  it('ask the user for more than ten branches in a project, even if two are created at once', async () => {
    for (const id of Array.from({ length: 9 }, (_, count) => `br-own-${count}`)) {
      branches.push({ id, name: id, parent_id: 'br-main', expires_at: later() });
      remember(id);
    }
    const both = Promise.all([call('createBranch', {}), call('createBranch', {})]);
    await assert.rejects(both, /did not approve/);
    assert.match(
      questions.join(),
      /Let claude create a branch in Shop \(shop\)\? Agents already have 10 branches/,
    );
    answers.push('Create');
    await call('createBranch', {});
  });

  it('own a branch before it is ready, and return it when it is', async () => {
    operations = [operationRecord(1)];
    const controller = new AbortController();
    const first = call('createBranch', { name: 'agent/new' }, { signal: controller.signal });
    await until('the branch is known', async () => model.agentBranches.all.length === 1);
    controller.abort();
    await assert.rejects(first, /agent\/new \(br-new\) isn't ready yet\. Call createBranch with this name/);
    const again = await call('createBranch', { name: 'agent/new', includePassword: true });
    assert.equal(again.branchId, 'br-new');
    assert.match(again.connectionString ?? '', /^postgresql:\/\/app_owner:first@/);
    assert.equal(sent().length, 1);
  });

  for (const [end, error] of [
    [{ status: 'finished' }, undefined],
    [{ status: 'failed', error: 'no space left' }, /The service couldn't create the branch\. no space left/],
    [{ status: 'failed' }, /^Error: The service couldn't create the branch\.$/],
  ] as const)
    it(`wait until the operations of a new branch, which expires after a day, have ${end.status}`, async () => {
      operations = [operationRecord(1, { endpoint_id: undefined })];
      const creating = call('createBranch', {});
      const result = error === undefined ? creating : assert.rejects(creating, error);
      const made = await until('the branch', async () => model.agentBranches.all[0]);
      const hours = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / 3_600_000;
      assert.equal(hours.toFixed(1), '24.0');
      assert.match(made.name, /^agent\/claude-[0-9a-f]{4}$/);
      operations = [operationRecord(1, end)];
      await until('a poll', async () => {
        if (model.clock.waits.length > 0) model.clock.next();
        return model.tracker.pending.length === 0;
      });
      await result;
    });

  it('say that the service does not provide the password', async () => {
    password = undefined;
    const created = await call('createBranch', { envFile: '.env', includePassword: true });
    assert.deepEqual([created.branchId, created.writtenTo], ['br-new', undefined]);
    assert.match(created.note ?? '', /doesn't provide the password of app_owner/);
  });

  it('replace their URL in a file, also after a reset if the file still has the branch', async () => {
    await call('createBranch', { envFile: '.env' });
    password = 'renewed';
    const created = await call('createBranch', { envFile: '.env' });
    assert.equal(created.connectionString, undefined, 'only if it is asked for');
    const text = () => readFileSync(created.writtenTo ?? '', 'utf8');
    assert.match(text(), /^DATABASE_URL=.*:renewed@.*\n$/);
    password = 'second';
    const ids = { projectId: 'shop', branchId: 'br-new' };
    assert.equal((await call('resetBranch', ids)).note, undefined);
    assert.match(text(), /:second@/);
    assert.deepEqual(questions, []);
    // The agent has created another branch since, for the same file.
    branches.push({ id: 'br-next', name: 'next', parent_id: 'br-main', expires_at: later() });
    remember('br-next');
    await model.inventory.refreshComputes('shop');
    const next = `DATABASE_URL=postgresql://app_owner:next@${hostOf('br-next')}/app\n`;
    writeFileSync(created.writtenTo ?? '', next);
    assert.equal((await call('resetBranch', ids)).note, undefined);
    assert.equal(text(), next);
  });

  it('neither reset nor delete a protected branch, not even by a question', async () => {
    for (const branchId of ['br-made', 'br-users'])
      branches.push({
        id: branchId,
        name: branchId,
        parent_id: 'br-main',
        expires_at: later(),
        protected: true,
      });
    remember('br-made');
    for (const branchId of ['br-made', 'br-users'])
      for (const name of ['resetBranch', 'deleteBranch'] as const)
        await assert.rejects(call(name, { projectId: 'shop', branchId }), /is protected\. Only the user/);
    assert.deepEqual([sent(), questions], [[], []]);
  });

  it('neither reset nor delete a branch that others depend on, not even by a question', async () => {
    branches.push({ id: 'br-old', name: 'old' }, { id: 'br-child', name: 'child', parent_id: 'br-dev' });
    branches.push({ id: 'br-dev', name: 'dev', parent_id: 'br-main' });
    const fails = async (name: 'resetBranch' | 'deleteBranch', branchId: string, error: RegExp) =>
      assert.rejects(call(name, { projectId: 'shop', branchId }), error);
    await fails('resetBranch', 'br-main', /^Error: main has no parent, so it can't be reset\.$/);
    await fails('resetBranch', 'br-dev', /^Error: dev has child branches, such as child\.$/);
    await fails('deleteBranch', 'br-main', /^Error: main is the default branch, so it can't be deleted\.$/);
    await fails('deleteBranch', 'br-old', /^Error: old is the root branch, so it can't be deleted\.$/);
    await fails('deleteBranch', 'br-dev', /^Error: dev has child branches, such as child\.$/);
    assert.deepEqual([sent(), questions], [[], []]);
  });

  it('reset and delete a branch of the user only with approval, which no dialog asks for', async () => {
    branches.push({ id: 'br-dev', name: 'dev', parent_id: 'br-main' });
    for (const verb of ['reset', 'delete'] as const) {
      const change = () => call(`${verb}Branch` as const, { projectId: 'shop', branchId: 'br-dev' });
      await assert.rejects(change(), /did not approve/);
      assert.match(questions.join(), /^Let claude \w+ the branch dev \(br-dev\) of Shop \(shop\).* data/);
      assert.deepEqual([sent(), dialogs], [[], []]);
      answers.push(verb === 'reset' ? 'Reset' : 'Delete');
      await change();
      assert.equal(sent().length, 1);
      model.service.requests.length = questions.length = 0;
    }
  });

  it('replace no URL of a branch of the user', async () => {
    branches.push({ id: 'br-dev', name: 'dev', parent_id: 'br-main' });
    await model.inventory.loadComputes('shop');
    const file = path.join(folder, '.env');
    const url = (branchId: string) => `DATABASE_URL=postgresql://me:mine@${hostOf(branchId)}/app\n`;
    for (const text of [url('br-dev'), url('br-unknown')]) {
      writeFileSync(file, text);
      await assert.rejects(call('createBranch', { envFile: '.env' }), /a value of the user/);
    }
    // The branch of an agent had this host, until it was deleted.
    remember('br-dev');
    writeFileSync(file, url('br-dev'));
    await model.knownHosts.remember(model.inventory, accountId(model.account), [computeOf('br-dev')]);
    branches = branches.filter(({ id }) => id !== 'br-dev');
    branches.push({ id: 'br-later', name: 'later', parent_id: 'br-main' });
    model.service.script = (each) =>
      each === 'GET /projects/shop/endpoints'
        ? { endpoints: [{ ...computeOf('br-later'), host: hostOf('br-dev') }] }
        : script(each);
    await model.inventory.refreshComputes('shop');
    await assert.rejects(call('createBranch', { envFile: '.env' }), /a value of the user/);
    assert.equal(readFileSync(file, 'utf8'), url('br-dev'));
    assert.deepEqual(sent(), []);
  });

  it('belong to a worktree: the file is relative to the folder of the agent', async () => {
    const repository = createRepository(path.join(folder, 'repository'));
    const inner = path.join(repository.folder, '.claude', 'worktrees', 'task');
    repository.git('worktree', 'add', '--quiet', inner);
    folder = path.join(inner, 'api');
    mkdirSync(folder);
    writeFileSync(path.join(inner, '.gitignore'), '.env\n');
    const created = await call('createBranch', { envFile: '.env' });
    assert.equal(created.writtenTo, path.join(folder, '.env'));
    const isYours = async (from: string) =>
      (await call('listBranches', {}, { folder: from })).branches.some((branch) => branch.isYours);
    assert.deepEqual(
      [await isYours(folder), await isYours(inner), await isYours(repository.folder), await isYours('/')],
      [true, true, false, false],
    );
  });

  it('need a known folder for an env file', async () => {
    const by = { folder: undefined };
    await assert.rejects(call('createBranch', { envFile: '.env' }, by), /folder isn't known/);
    assert.deepEqual(sent(), []);
  });
});
