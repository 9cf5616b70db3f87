/**
 * The MCP program as it ships, with the SDK's client and the local service, while no window of VS Code runs.
 * Timers: mcp/hook.ts.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findServiceAddress, findServiceOwner } from '../../../src/localService/discover.ts';
import { takeLease } from '../../../src/localService/lease.ts';
import { fieldsOf } from '../../../src/base/fieldsOf.ts';
import { AgentBranches } from '../../../src/extension/inventory/agentBranches.ts';
import { sharedMemory } from '../../../src/extension/agents/sharedMemory.ts';
import { listTools } from '../../../src/extension/agents/tools/toolTable.ts';
import type { AgentOptions } from '../../helpers/agent.ts';
import { branchCalls, emptyAccount, type Api, type Created } from '../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { query } from '../service/postgres/clients.ts';
import { connectAgent } from './connectAgent.ts';

const REFUSED = /This needs the approval of the user.*Nothing was changed\.$/;

describe('The MCP server without a window', () => {
  let service: LocalService;
  let api: Api;
  let created: Created;
  let folder: string;
  /** The data directory of the service that all tests share. */
  let dataDir: string;

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    ({ dataDir } = service);
    api = branchCalls(service);
    created = await api.change('POST', '', { project: { name: 'Shop' } });
  });

  beforeEach(() => {
    folder = temporaryFolder();
  });

  const connect = (
    env: Record<string, string> = { HOSTED_POSTGRES_DATA_DIR: dataDir },
    options: Partial<AgentOptions> = {},
  ) => connectAgent(env, { cwd: folder, ...options });

  it('calls each tool for what is the agent’s own', async () => {
    const { client, call } = await connect();
    assert.equal((await client.listTools()).tools.length, listTools().length);
    writeFileSync(path.join(folder, '.env'), '');
    const made = await call('createBranch', { hours: 1, envFile: '.env' });
    const { projectId, branchId, computeId } = made;
    assert.match(readFileSync(path.join(folder, '.env'), 'utf8'), /^DATABASE_URL=.*postgresql:/);
    assert.doesNotMatch(JSON.stringify(made), /postgresql:/);
    const [branch, compute] = [
      { projectId, branchId },
      { projectId, computeId },
    ];
    assert.ok(JSON.stringify(await call('listComputes')).includes(String(computeId)));
    assert.match(String((await call('getCompute', compute))['host']), /^127\.0\.0\.1:\d+$/);
    const { branches } = await call('listBranches');
    assert.ok(Array.isArray(branches));
    const own = branches.map(fieldsOf).filter(({ isYours }) => isYours);
    assert.ok(own.some((entry) => entry['branchId'] === branchId));
    await call('runSql', { ...branch, sql: 'CREATE TABLE t (id int)', write: true });
    const rowsOf = "SELECT relname FROM pg_class WHERE relname = 't'";
    const { differs, rows } = await call('compareSchema', { ...branch, rowsOf });
    assert.deepEqual([differs, rows], [true, '1 added, 0 changed, 0 deleted\n relname\n ───────\n+t']);
    const deletes = { ...branch, rowsOf: 'DELETE FROM pg_class RETURNING 1' };
    await assert.rejects(call('compareSchema', deletes), /syntax error/);
    await call('resetBranch', branch);
    assert.equal((await call('compareSchema', branch))['differs'], false);
    /** Sends it again while an operation runs. */
    const change = (name: string, input: object) =>
      until(`the end of ${name}`, () =>
        call(name, input).catch((error: unknown) => {
          assert.match(String(error), /operation/);
          return undefined;
        }),
      );
    for (const [name, input] of [
      ['resizeCompute', { ...compute, minCu: 0.5, maxCu: 1 }],
      ['restartCompute', compute],
      ['suspendCompute', compute],
      ['startCompute', compute],
    ] as const)
      assert.equal((await change(name, input))['changed'], true);
    await change('deleteBranch', branch);
    assert.match(readFileSync(path.join(folder, '.env'), 'utf8'), /^DATABASE_URL=(?:""|'')?\s*$/);
  });

  it('refuses what the user would have to approve, and says why', async () => {
    const { call } = await connect();
    const { id: projectId } = created.project;
    const user = await api.createBranch(projectId, { name: 'dev', parent_id: created.branch.id });
    const compute = { projectId, computeId: user.endpoints[0]?.id };
    const branch = { projectId, branchId: user.branch.id };
    for (const name of ['startCompute', 'suspendCompute', 'restartCompute'])
      await assert.rejects(call(name, compute), REFUSED, name);
    await assert.rejects(call('resizeCompute', { ...compute, minCu: 2 }), REFUSED);
    await assert.rejects(call('resetBranch', branch), REFUSED);
    await assert.rejects(call('deleteBranch', branch), REFUSED);
    await assert.rejects(call('runSql', { ...branch, sql: 'SELECT 1', write: true }), /You may only read/);
    assert.deepEqual((await call('runSql', { ...branch, sql: 'SELECT 1' }))['rows'], [['1']]);
    const { branchId } = await call('createBranch', { name: 'one', hours: 1 });
    const other = await connect(undefined, { name: 'Codex', isLegacy: true });
    await assert.rejects(other.call('deleteBranch', { projectId, branchId }), REFUSED);
    await call('deleteBranch', { projectId, branchId });
  });

  it('says what is wrong with a call', async () => {
    const { call } = await connect();
    const { id: projectId } = created.project;
    for (const [name, input, message] of [
      ['listComputes', { name: 'x' }, /^Unknown input name\.$/],
      ['restartCompute', { projectId, computeId: 'ep-gone-1' }, /^ep-gone-1 no longer exists\.$/],
      ['listBranches', { projectId: 'gone' }, /^Couldn't load the branches of gone/],
      ['deleteBranch', { projectId, branchId: 'br-gone-1' }, /has no branch br-gone-1/],
    ] as const)
      await assert.rejects(call(name, input), { message }, name);
  });

  it('finds the service of the project around the folder, and that of the extension', async function () {
    if (process.platform === 'win32') this.skip();
    const project = temporaryFolder();
    symlinkSync(dataDir, path.join(project, '.hosted-postgres'));
    folder = path.join(project, 'packages', 'shop');
    mkdirSync(folder, { recursive: true });
    await (await connect({})).call('listComputes');
    folder = temporaryFolder();
    const storage = temporaryFolder();
    symlinkSync(dataDir, path.join(storage, 'local-service'));
    await (await connect({ HOSTED_POSTGRES_AGENTS: path.join(storage, 'agents') })).call('listComputes');
  });

  it('says that neither a window nor a service runs', async () => {
    const { call } = await connect({});
    await assert.rejects(call('listComputes'), /No window of VS Code .* and no local service runs\./);
  });

  it('continues with a service that was restarted', async () => {
    const restarted = temporaryFolder();
    const first = await startLocalService({ dataDir: restarted, postgres: false });
    const { call } = await connect({ HOSTED_POSTGRES_DATA_DIR: restarted });
    await call('listComputes');
    await first.stop();
    await assert.rejects(call('listComputes'), /no local service runs/);
    const second = await startLocalService({ dataDir: restarted, postgres: false });
    await call('listComputes');
    await second.stop();
  });

  it('remembers in a private file, without a password or key', async function () {
    const { call } = await connect();
    const made = await call('createBranch', { hours: 1, includePassword: true });
    assert.deepEqual(await query(String(made['connectionString']), 'select 1'), [1]);
    const text = JSON.stringify(sharedMemory(dataDir).values());
    assert.ok(text.includes(String(made['branchId'])));
    assert.ok(!text.includes(new URL(String(made['connectionString'])).password));
    const files = readdirSync(dataDir).filter((name) => name.startsWith('agents-'));
    assert.ok(files.length > 0);
    if (process.platform !== 'win32')
      for (const file of files) assert.equal(statSync(path.join(dataDir, file)).mode & 0o777, 0o600);
    await call('deleteBranch', { projectId: made['projectId'], branchId: made['branchId'] });
  });

  it('gives a branch passwords that do not open its parent, again after a reset', async () => {
    const { call } = await connect();
    writeFileSync(path.join(folder, '.env'), '');
    const { id: projectId } = created.project;
    const { host } = created.endpoints[0] ?? assert.fail();
    const { connectionString, branchId } = await call('createBranch', {
      hours: 1,
      envFile: '.env',
      includePassword: true,
    });
    const requireOwn = async (text: unknown) => {
      const url = new URL(String(text));
      assert.deepEqual(await query(url.href, 'select 1'), [1]);
      url.host = host;
      await assert.rejects(query(url.href, 'select 1'), /password authentication failed/);
    };
    await requireOwn(connectionString);
    await call('resetBranch', { projectId, branchId });
    const [, written] =
      /^DATABASE_URL=["']?([^"'\s]+)/.exec(readFileSync(path.join(folder, '.env'), 'utf8')) ?? [];
    assert.notEqual(written, connectionString);
    await requireOwn(written);
    await call('deleteBranch', { projectId, branchId });
  });

  it('has its own key, which the service accepts only during its lease', async () => {
    const owner = await findServiceOwner(dataDir);
    const address = owner && (await findServiceAddress(dataDir, owner));
    assert.ok(address);
    const [one, two] = [await takeLease(address), await takeLease(address)];
    assert.ok(one && two);
    assert.notEqual(one.key, two.key);
    const status = async (key: string) => {
      const { status: code } = await fetch(`${service.baseUrl}/projects?limit=1`, {
        headers: { authorization: `Bearer ${key}` },
      });
      return code;
    };
    assert.deepEqual(await Promise.all([status(one.key), status(two.key)]), [200, 200]);
    assert.equal(await status(address.leaseSecret), 401);
    one.release();
    await until('the end of its key', async () => (await status(one.key)) === 401);
    assert.equal(await status(two.key), 200);
    two.release();
  });

  it('creates ten branches for several agents at once, remembers each, and shares them with windows', async function () {
    if (process.platform === 'win32') this.skip();
    const { project } = await api.change('POST', '', { project: { name: 'Blog' } });
    const storage = temporaryFolder();
    symlinkSync(dataDir, path.join(storage, 'local-service'));
    const agents = path.join(storage, 'agents');
    const env = { HOSTED_POSTGRES_AGENTS: agents };
    const clients = await Promise.all([1, 2, 3].map(() => connect(env)));
    const input = { projectId: project.id, hours: 1 };
    const results = await Promise.allSettled(
      clients.flatMap(({ call }) => [1, 2, 3, 4].map(() => call('createBranch', input))),
    );
    const made = results.flatMap((each) =>
      each.status === 'fulfilled' ? String(each.value['branchId']) : [],
    );
    const refused = results.flatMap((each) => (each.status === 'rejected' ? String(each.reason) : []));
    assert.equal(made.length, 10, refused.join());
    for (const text of refused) assert.match(text, /10 is the limit .* with deleteBranch: /);
    const remembered = new AgentBranches(sharedMemory(agents)).all.map(({ branchId }) => branchId);
    assert.deepEqual(remembered.toSorted(), made.toSorted());
    // What the user deletes makes room at once.
    await api.change('DELETE', `/${project.id}/branches/${made[0]}`);
    await clients[0]?.call('createBranch', input);
  });
});
