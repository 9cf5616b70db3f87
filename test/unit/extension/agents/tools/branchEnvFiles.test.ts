import { answers } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
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

const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('Branches of agents, with their folder', () => {
  let model: ScriptedModel;
  let branches: { readonly id: string; readonly name: string; readonly [field: string]: unknown }[];
  let endpoints: readonly unknown[];
  let password: string | undefined;
  let canReset: boolean;
  let operations: readonly unknown[];
  let folder: string;

  const script: Script = (request) => {
    if (request === 'GET /projects') return { projects: ['shop', 'blog'].map((id) => ({ id, name: id })) };
    if (request.endsWith('/connection_uri'))
      return password === undefined ? 404 : { uri: `postgresql://owner:${password}@ep-new.example.test/app` };
    if (request.endsWith('/reset_password'))
      return canReset ? { role: { name: 'owner', password: 'unused' }, operations: [] } : 405;
    if (request.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'owner' }] };
    if (request.endsWith('/roles')) return { roles: [{ name: 'owner' }] };
    if (request.endsWith('/endpoints')) return { endpoints };
    if (request === 'GET /projects/shop/branches' || request === 'GET /projects/blog/branches')
      return { branches };
    if (request.startsWith('POST') && request.endsWith('/branches'))
      branches.push({ id: 'br-new', name: 'agent/new', parent_id: 'br-main', expires_at: later() });
    return { branch: branches.at(-1), endpoints, operations };
  };

  const call = <N extends ToolName>(name: N, input: ToolInput<N>, { signal } = new AbortController()) =>
    callTool(toolDependencies(model), name, input, { folder, signal }) as Promise<ToolOutput<N>>;
  const ids = { projectId: 'shop', branchId: 'br-new' };
  /** Ends the call's wait before the operation of its change has ended. */
  const callInTime = async <N extends 'resetBranch' | 'deleteBranch'>(name: N, input: ToolInput<N>) => {
    operations = [operationRecord(1, { endpoint_id: undefined, branch_id: 'br-new' })];
    const controller = new AbortController();
    const called = call(name, input, controller);
    await until('the operation', async () => model.tracker.pending.length === 1);
    controller.abort();
    return called;
  };
  const createWithFile = async (): Promise<string> => {
    const { writtenTo = '' } = await call('createBranch', { projectId: 'shop', envFile: '.env' });
    return writtenTo;
  };

  beforeEach(async () => {
    answers.length = 0;
    branches = [{ id: 'br-main', name: 'main', default: true }];
    endpoints = [computeRecord('ep-new', { branch_id: 'br-new' })];
    password = 'first';
    canReset = true;
    operations = [];
    folder = realpathSync(temporaryFolder());
    model = await connectScripted(script);
  });

  it('leave no URL in the env file when they are deleted', async () => {
    const file = await createWithFile();
    assert.match(readFileSync(file, 'utf8'), /^DATABASE_URL=.*:first@ep-new/);
    await call('deleteBranch', ids);
    assert.equal(readFileSync(file, 'utf8'), 'DATABASE_URL=\n');
    const ref = { account: accountId(model.account), ...ids };
    assert.equal(model.agentBranches.find(ref), undefined);
    assert.ok(model.agentBranches.wasMadeByAgent(ref));
  });

  it('leave no URL in any of the files that they were written to', async () => {
    const first = await createWithFile();
    const more = { projectId: 'shop', name: 'agent/new', envFile: '.env.local', envVariable: 'TEST_URL' };
    const { writtenTo: second = '' } = await call('createBranch', more);
    assert.match(readFileSync(second, 'utf8'), /^TEST_URL=.*@ep-new/);
    await call('deleteBranch', ids);
    assert.equal(readFileSync(first, 'utf8'), 'DATABASE_URL=\n');
    assert.equal(readFileSync(second, 'utf8'), 'TEST_URL=\n');
  });

  it('leave no URL when their deletion takes too long', async () => {
    const file = await createWithFile();
    const deletion = await callInTime('deleteBranch', ids);
    assert.equal(deletion.pending, true);
    assert.equal(readFileSync(file, 'utf8'), 'DATABASE_URL=\n');
  });

  it('stay the agent’s until they are deleted', async () => {
    await createWithFile();
    const keeps = { name: 'kept', agent: 'claude', createdAt: later(), expiresAt: later() };
    const ref = { account: accountId(model.account), ...ids };
    model.agentBranches.add({ ...ref, ...keeps, branchId: 'br-kept', keptFor: 'br-new' });
    branches.push({ id: 'br-kept', name: 'kept', parent_id: 'br-main', expires_at: later() });
    const { note = '' } = await callInTime('deleteBranch', ids);
    assert.match(note, /Once it is deleted, also delete what undos have kept of it: br-kept\./);
    assert.equal(model.agentBranches.all.length, 2);
    operations = [];
    branches = branches.filter(({ id }) => id !== 'br-new');
    await call('deleteBranch', { ...ids, branchId: 'br-kept' });
    assert.deepEqual(model.agentBranches.all, []);
  });

  it('say how they get new passwords when their reset takes too long', async () => {
    const file = await createWithFile();
    const { pending, note = '' } = await callInTime('resetBranch', ids);
    assert.equal(pending, true);
    assert.match(note, /Once it is ready, call createBranch with its name and the env file/);
    operations = [];
    password = 'second';
    await call('createBranch', { projectId: 'shop', name: 'agent/new', envFile: '.env' });
    assert.match(readFileSync(file, 'utf8'), /:second@ep-new/);
  });

  it('get new passwords before a URL, again after a reset by the user, and no URL without', async () => {
    const renewals = () => model.service.requests.filter((each) => each.endsWith('/reset_password')).length;
    const withUrl = { projectId: 'shop', name: 'agent/new', includePassword: true };
    canReset = false;
    const refused = await call('createBranch', withUrl);
    assert.equal(refused.connectionString, undefined);
    assert.match(refused.note ?? '', /password/i);
    canReset = true;
    for (const [reset, count] of [
      ['2030-01-01T00:00:00Z', 2],
      ['2030-01-01T00:00:00Z', 2],
      ['2030-01-01T00:00:01Z', 3],
    ] as const) {
      branches = branches.map((branch) => ({ ...branch, last_reset_at: reset }));
      assert.match((await call('createBranch', withUrl)).connectionString ?? '', /:first@/);
      assert.equal(renewals(), count, reset);
    }
    await call('resetBranch', ids);
    assert.equal(renewals(), 4);
  });

  it('keep their URL after a reset if the service does not provide the password', async () => {
    const file = await createWithFile();
    password = undefined;
    assert.equal((await call('resetBranch', ids)).note, undefined);
    assert.match(readFileSync(file, 'utf8'), /:first@/);
  });

  it('are changed although the env file cannot be updated, which the agent learns', async () => {
    const file = await createWithFile();
    rmSync(file);
    mkdirSync(file);
    const { note } = await call('resetBranch', ids);
    assert.equal(note, `Couldn't update .env: ${file} isn't a file.`);
  });

  it('need a compute', async () => {
    endpoints = [];
    await assert.rejects(call('createBranch', { projectId: 'shop' }), /^Error: agent\/new has no compute\.$/);
  });

  it('have the parent that the user has chosen for the repository, in its project', async () => {
    branches.push({ id: 'br-staging', name: 'staging', parent_id: 'br-main', expires_at: later() });
    ({ folder } = createRepository(path.join(folder, 'repository')));
    const git = createGitRunner(() => 'git');
    const staging = { account: accountId(model.account), projectId: 'blog', branchId: 'br-staging' };
    await branchMapWriter(git, folder).setParent(staging);
    await assert.rejects(call('createBranch', {}), /br-staging expires/);
    assert.equal((await call('createBranch', { projectId: 'shop' })).parentId, 'br-main');
  });
});
