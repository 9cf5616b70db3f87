import { answers, questions } from '../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { accountId } from '../../../src/model/account/accounts.ts';
import { getVariable } from '../../../src/model/connection/dotEnv.ts';
import type { ToolInput, ToolName, ToolOutput } from '../../../src/model/agents/tools/toolTable.ts';
import { branchCalls, emptyAccount, type Api, type Created } from '../../helpers/branchCalls.ts';
import { connectModel, type ConnectedModel } from '../../helpers/connectedModel.ts';
import { createRepository, type GitRepository } from '../../helpers/gitRepository.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { RealClock } from '../../helpers/realClock.ts';
import { toolDependencies } from '../../helpers/toolDependencies.ts';

const { runInWindow: runTool } = await import('../../../src/ui/agents/runInWindow.ts');

const idsOf = ({ projectId, branchId }: ToolOutput<'createBranch'>) => ({ projectId, branchId });

const USERS_URL = 'postgresql://owner:secret@production.example.test/shop';

describe('Branches of agents', () => {
  let service: LocalService;
  let api: Api;
  let model: ConnectedModel;
  let repository: GitRepository;
  /** A git worktree, in which the agent runs. */
  let folder: string;
  let created: Created;

  const call = async <N extends ToolName>(
    name: N,
    input: ToolInput<N>,
    caller: { readonly agent?: string; readonly folder?: string } = {},
  ) =>
    JSON.parse(
      JSON.stringify(
        await runTool(toolDependencies(model), name, input, {
          agent: 'Claude Code',
          folder,
          signal: new AbortController().signal,
          ...caller,
        }),
      ),
    ) as ToolOutput<N>;
  const env = (name = '.env') => path.join(folder, name);
  const urlIn = (name = '.env') => getVariable(readFileSync(env(name), 'utf8'), 'DATABASE_URL') ?? '';
  const query = async (url: string, sql: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const results = [await client.query({ text: sql, rowMode: 'array' })].flat();
      return results.at(-1)?.rows.flat() ?? [];
    } finally {
      await client.end();
    }
  };
  const projectId = () => created.project.id;
  const branchesOf = () => api.branches(projectId());

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
    created = await api.change('POST', '', { project: { name: 'Shop' } });
    await query(api.uri(created), 'CREATE TABLE orders (id int); INSERT INTO orders VALUES (1), (2)');
  });
  after(() => service.stop());

  beforeEach(async () => {
    answers.length = 0;
    questions.length = 0;
    model = await connectModel(service, { key: service.key, clock: new RealClock() });
    repository = createRepository();
    writeFileSync(path.join(repository.folder, '.gitignore'), '.env*\n');
    repository.git('add', '.gitignore');
    repository.git('commit', '--quiet', '--message=Ignore');
    writeFileSync(path.join(repository.folder, '.env'), `DATABASE_URL=${USERS_URL}\n`);
    folder = `${repository.folder}-task`;
    repository.git('worktree', 'add', '--quiet', folder);
  });

  it('are created, used, reset and deleted without a question', async () => {
    const branch = await call('createBranch', { envFile: '.env', hours: 2 });
    assert.match(branch.name, /^agent\/claude-code-[0-9a-f]{4}$/);
    assert.equal(branch.parentId, created.branch.id);
    assert.equal(branch.writtenTo, realpathSync(env()));
    assert.equal(branch.connectionString, undefined);
    const hours = (Date.parse(branch.expiresAt) - Date.now()) / 3_600_000;
    assert.ok(hours > 1.9 && hours <= 2, branch.expiresAt);
    if (process.platform !== 'win32') assert.equal(statSync(env()).mode & 0o777, 0o600);

    assert.deepEqual(await query(urlIn(), 'SELECT id FROM orders ORDER BY id'), [1, 2]);
    await query(urlIn(), 'DROP TABLE orders; CREATE TABLE items (id int)');
    const ids = idsOf(branch);
    const compared = await call('compareSchema', ids);
    assert.equal(compared.differs, true);
    assert.match(compared.diff, /-- items; Type: TABLE.*\+CREATE TABLE public\.items/s);
    assert.match(compared.diff, /-CREATE TABLE public\.orders/);

    assert.deepEqual(await call('resetBranch', ids), { branchId: branch.branchId });
    assert.deepEqual(await query(urlIn(), 'SELECT id FROM orders ORDER BY id'), [1, 2]);
    assert.equal((await call('compareSchema', ids)).differs, false);

    assert.deepEqual(await call('deleteBranch', ids), { branchId: branch.branchId });
    assert.equal(urlIn(), '');
    assert.deepEqual(
      (await branchesOf()).map(({ id }) => id),
      [created.branch.id],
    );
    assert.deepEqual(model.agentBranches.all, []);
    assert.deepEqual(questions, []);
    assert.equal(readFileSync(path.join(repository.folder, '.env'), 'utf8'), `DATABASE_URL=${USERS_URL}\n`);
  });

  it('leave an env file with the user’s value as it is, and create nothing', async () => {
    writeFileSync(env(), `DATABASE_URL=${USERS_URL}\n`);
    const ids = async () => (await branchesOf()).map(({ id }) => id);
    const before = await ids();
    await assert.rejects(call('createBranch', { envFile: '.env' }), /has a value of the user/);
    await assert.rejects(call('createBranch', { envFile: '../.env' }), /isn't in the folder of the agent/);
    await assert.rejects(call('createBranch', { database: 'missing' }), /no database missing\. It has: app/);
    assert.equal(readFileSync(env(), 'utf8'), `DATABASE_URL=${USERS_URL}\n`);
    assert.deepEqual(await ids(), before);
  });

  it('replace the URL of an agent’s branch, also of a deleted one', async () => {
    const first = await call('createBranch', { envFile: '.env' });
    const old = urlIn();
    await call('deleteBranch', idsOf(first));
    const second = await call('createBranch', { envFile: '.env' });
    assert.notEqual(urlIn(), old);
    assert.deepEqual(await query(urlIn(), 'SELECT count(*)::int FROM orders'), [2]);
    const third = await call('createBranch', { envFile: '.env', envVariable: 'TEST_URL' });
    assert.match(readFileSync(env(), 'utf8'), /^DATABASE_URL=.*\nTEST_URL=.*\n$/);
    for (const branch of [second, third]) await call('deleteBranch', idsOf(branch));
  });

  it('leave a URL of the user’s at the address that a deleted branch had', async () => {
    const branch = await call('createBranch', { envFile: '.env' });
    const compute = model.inventory.compute(projectId(), branch.computeId) ?? assert.fail('no compute');
    await call('deleteBranch', idsOf(branch));
    const users = await api.change('POST', '', { project: { name: 'Second' } });
    try {
      // The new project has an address of its own, so what the extension knows is changed instead.
      const host = users.endpoints[0]?.host ?? '';
      await model.knownHosts.remember(model.inventory, accountId(model.account), [{ ...compute, host }]);
      writeFileSync(env(), `DATABASE_URL=${api.uri(users)}\n`);
      await assert.rejects(
        call('createBranch', { projectId: projectId(), envFile: '.env' }),
        /has a value of the user/,
      );
      assert.equal(urlIn(), api.uri(users));
    } finally {
      await api.send('DELETE', `/${users.project.id}`, undefined, 200);
    }
  });

  it('return their password only on request, and are found again by name', async () => {
    const branch = await call('createBranch', { name: 'agent/mine' });
    assert.doesNotMatch(JSON.stringify(branch), /postgresql:/);
    const again = await call('createBranch', { name: 'agent/mine', includePassword: true });
    assert.equal(again.branchId, branch.branchId);
    assert.equal(again.host, branch.host);
    assert.deepEqual(
      await query(again.connectionString ?? '', 'SELECT current_database()::text, current_user::text'),
      [again.database, again.role],
    );
    assert.equal(existsSync(env()), false);
    await assert.rejects(
      call('createBranch', { name: 'agent/mine' }, { agent: 'Codex' }),
      /already is a branch/,
    );
    await call('deleteBranch', idsOf(branch));
  });

  it('are changed by others only with the user’s approval', async () => {
    const branch = await call('createBranch', {});
    const other = { agent: 'Codex' };
    const { branches } = await call('listBranches', {}, other);
    const isDefault = new Map(branches.map((each) => [each.branchId, each.isDefault]));
    assert.deepEqual([isDefault.get(branch.branchId), isDefault.get(created.branch.id)], [false, true]);
    assert.ok(branches.every(({ isYours }) => !isYours));
    const own = (await call('listBranches', {})).branches.filter(({ isYours }) => isYours);
    assert.deepEqual(
      own.map(({ branchId }) => branchId),
      [branch.branchId],
    );
    await assert.rejects(call('resetBranch', idsOf(branch), other), /did not approve/);
    await assert.rejects(call('deleteBranch', idsOf(branch), other), /did not approve/);
    assert.match(
      questions.join('\n'),
      /Let Codex reset agent\/claude-code-.*\nLet Codex delete agent\/claude-code-/,
    );
    answers.push('Delete');
    await call('deleteBranch', idsOf(branch), other);
    assert.equal((await branchesOf()).length, 1);
  });

  it('are all that an agent can delete or reset', async () => {
    const ids = { projectId: projectId(), branchId: created.branch.id };
    await assert.rejects(call('deleteBranch', ids), /is the default branch/);
    await assert.rejects(call('resetBranch', ids), /has no parent/);
    const body = { branch: { name: 'staging', protected: true } };
    const { branch: staging } = await api.change('POST', `/${projectId()}/branches`, body);
    for (const tool of ['resetBranch', 'deleteBranch'] as const)
      await assert.rejects(call(tool, { ...ids, branchId: staging.id }), /Only the user can unprotect it/);
    assert.deepEqual(questions, []);
    await api.change('PATCH', `/${projectId()}/branches/${staging.id}`, { branch: { protected: false } });
    await api.change('DELETE', `/${projectId()}/branches/${staging.id}`);
  });

  it('are not created in a read-only project, and with its name in production', async () => {
    model.marks[projectId()] = 'readOnly';
    await assert.rejects(call('createBranch', {}), /marked the project/);
    model.marks[projectId()] = 'production';
    await assert.rejects(call('createBranch', {}), /did not approve/);
    answers.push('Shop');
    const branch = await call('createBranch', {});
    await assert.rejects(call('deleteBranch', idsOf(branch)), /did not approve/);
    answers.push(branch.name);
    await call('deleteBranch', idsOf(branch));
    assert.ok(questions.every((question) => /This is production/.test(question)));
  });

  it('become the user’s when they no longer expire', async () => {
    const branch = await call('createBranch', {});
    const address = `/${projectId()}/branches/${branch.branchId}`;
    await api.change('PATCH', address, { branch: { expires_at: null } });
    await assert.rejects(call('deleteBranch', idsOf(branch)), /did not approve/);
    assert.deepEqual(model.agentBranches.all, []);
    await api.change('DELETE', address);
  });
});
