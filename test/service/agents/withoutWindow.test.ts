/** The MCP program as it ships, with the SDK's client and the local service, while no window of VS Code runs. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { findAddress, findOwner } from '../../../src/api/localServiceFiles.ts';
import { takeLease } from '../../../src/api/localServiceLease.ts';
import { fieldsOf } from '../../../src/base/fieldsOf.ts';
import { listTools } from '../../../src/model/agents/tools/toolTable.ts';
import { atEndOfTest } from '../../helpers/atEndOfTest.ts';
import { branchCalls, emptyAccount, type Api, type Created } from '../../helpers/branchCalls.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';

const REFUSED = /^This needs the approval of the user.*Nothing was changed\.$/;

type Input = Readonly<Record<string, unknown>>;

describe('The MCP server without a window', function () {
  this.timeout(180_000);
  let service: LocalService;
  let api: Api;
  let created: Created;
  let extension: string;
  let folder: string;
  /** Of the service that all tests share. */
  let dataDir: string;

  before(async () => {
    extension = await builtMcp();
    dataDir = temporaryFolder();
    service = await startLocalService({ dataDir, args: emptyAccount() });
    api = branchCalls(service);
    created = await api.change('POST', '', { project: { name: 'Shop' } });
  });
  after(() => service.stop());

  beforeEach(() => {
    folder = temporaryFolder();
  });

  const connect = async (
    env: Record<string, string> = { HOSTED_POSTGRES_DATA_DIR: dataDir },
    mode: 'auto' | 'legacy' = 'auto',
    name = 'Claude Code',
  ): Promise<Client> => {
    const client = new Client({ name, version: '2' }, { versionNegotiation: { mode } });
    atEndOfTest(() => client.close());
    const args = [path.join(extension, 'dist', 'mcp.js')];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: folder }));
    return client;
  };
  const call = async (client: Client, name: string, input: Input = {}) => {
    const {
      isError = false,
      content,
      structuredContent,
    } = await client.callTool({
      name,
      arguments: { ...input },
    });
    const text = content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
    return { isError, text, fields: fieldsOf(structuredContent) };
  };
  const right = async (client: Client, name: string, input: Input = {}) => {
    const { isError, text, fields } = await call(client, name, input);
    assert.equal(isError, false, `${name}: ${text}`);
    return fields;
  };
  const wrong = async (client: Client, name: string, input: Input, expected: RegExp) => {
    const { isError, text } = await call(client, name, input);
    assert.ok(isError, `${name}: ${text}`);
    assert.match(text, expected);
  };

  describe('for a client', () => {
    let client: Client;

    beforeEach(async () => {
      client = await connect();
    });

    it('calls each tool for what is the agent’s own', async () => {
      assert.equal((await client.listTools()).tools.length, listTools().length);
      writeFileSync(path.join(folder, '.env'), '');
      const made = await right(client, 'createBranch', { hours: 1, envFile: '.env' });
      const { projectId, branchId, computeId } = made;
      assert.match(readFileSync(path.join(folder, '.env'), 'utf8'), /^DATABASE_URL=.*postgresql:/);
      assert.doesNotMatch(JSON.stringify(made), /postgresql:/);
      const [branch, compute] = [
        { projectId, branchId },
        { projectId, computeId },
      ];
      const listed = await right(client, 'listComputes');
      assert.ok(JSON.stringify(listed).includes(String(computeId)));
      assert.match(String((await right(client, 'getCompute', compute))['host']), /^127\.0\.0\.1:\d+$/);
      const { branches } = await right(client, 'listBranches');
      assert.ok(Array.isArray(branches));
      const own = branches.map(fieldsOf).filter(({ isYours }) => isYours);
      assert.ok(own.some((entry) => entry['branchId'] === branchId));
      await right(client, 'runSql', { ...branch, sql: 'CREATE TABLE t (id int)', write: true });
      assert.equal((await right(client, 'compareSchema', branch))['differs'], true);
      await right(client, 'resetBranch', branch);
      assert.equal((await right(client, 'compareSchema', branch))['differs'], false);
      for (const [name, input] of [
        ['resizeCompute', { ...compute, minCu: 0.5, maxCu: 1 }],
        ['restartCompute', compute],
        ['suspendCompute', compute],
        ['startCompute', compute],
      ] as const) {
        await until('the end of the last operation', async () => {
          const { isError, text, fields } = await call(client, name, input);
          assert.ok(!isError || /operation/.test(text), text);
          return fields['changed'] === true;
        });
      }
      await until('its deletion', async () => {
        const { isError, text } = await call(client, 'deleteBranch', branch);
        assert.ok(!isError || /operation/.test(text), text);
        return !isError;
      });
      assert.match(readFileSync(path.join(folder, '.env'), 'utf8'), /^DATABASE_URL=(?:""|'')?\s*$/);
    });

    it('refuses what the user would have to approve, and says why', async () => {
      const { id: projectId } = created.project;
      const user = await api.change('POST', `/${projectId}/branches`, {
        branch: { name: 'dev', parent_id: created.branch.id },
        endpoints: [{ type: 'read_write' }],
      });
      const compute = { projectId, computeId: user.endpoints[0]?.id };
      const branch = { projectId, branchId: user.branch.id };
      for (const name of ['startCompute', 'suspendCompute', 'restartCompute'])
        await wrong(client, name, compute, REFUSED);
      await wrong(client, 'resizeCompute', { ...compute, minCu: 2 }, REFUSED);
      await wrong(client, 'resetBranch', branch, REFUSED);
      await wrong(client, 'deleteBranch', branch, REFUSED);
      await wrong(client, 'runSql', { ...branch, sql: 'SELECT 1', write: true }, /^You may only read/);
      assert.deepEqual((await right(client, 'runSql', { ...branch, sql: 'SELECT 1' }))['rows'], [['1']]);
      const { branchId } = await right(client, 'createBranch', { name: 'one', hours: 1 });
      // Of the older version of the protocol.
      const other = await connect(undefined, 'legacy', 'Codex');
      await wrong(other, 'deleteBranch', { projectId, branchId }, REFUSED);
      await right(client, 'deleteBranch', { projectId, branchId });
    });

    it('says what is wrong with a call', async () => {
      const { id: projectId } = created.project;
      const compute = { projectId, computeId: 'ep-gone-1' };
      const branch = { projectId, branchId: 'br-gone-1' };
      await wrong(client, 'listComputes', { name: 'x' }, /^Unknown input name\.$/);
      await wrong(client, 'getCompute', {}, /^projectId must be of type string\.$/);
      for (const name of ['startCompute', 'suspendCompute', 'restartCompute'])
        await wrong(client, name, compute, /^ep-gone-1 no longer exists\.$/);
      await wrong(client, 'resizeCompute', { ...compute, minCu: 0.3 }, /^The input must have sizes/);
      await wrong(client, 'listBranches', { projectId: 'gone' }, /^Couldn't load the branches of gone/);
      await wrong(client, 'createBranch', { hours: 0 }, /^hours must be/);
      for (const name of ['compareSchema', 'resetBranch', 'deleteBranch'])
        await wrong(client, name, branch, /has no branch br-gone-1/);
      await wrong(client, 'runSql', { ...branch, sql: 1 }, /^sql must be/);
      await wrong(client, 'dropDatabase', {}, /^Unknown tool dropDatabase\.$/);
    });
  });

  it('finds the service of the project around the folder, and that of the extension', async function () {
    if (process.platform === 'win32') this.skip();
    const project = temporaryFolder();
    symlinkSync(dataDir, path.join(project, '.hosted-postgres'));
    folder = path.join(project, 'packages', 'shop');
    mkdirSync(folder, { recursive: true });
    await right(await connect({}), 'listComputes');
    folder = temporaryFolder();
    const storage = temporaryFolder();
    symlinkSync(dataDir, path.join(storage, 'local-service'));
    await right(await connect({ HOSTED_POSTGRES_AGENTS: path.join(storage, 'agents') }), 'listComputes');
  });

  it('says that neither a window nor a service runs', async () => {
    const client = await connect({});
    await wrong(client, 'listComputes', {}, /^No window of VS Code .* and no local service runs\./);
  });

  it('goes on with a service that was restarted', async () => {
    const restarted = temporaryFolder();
    const first = await startLocalService({ dataDir: restarted, postgres: false });
    const client = await connect({ HOSTED_POSTGRES_DATA_DIR: restarted });
    await right(client, 'listComputes');
    await first.stop();
    await wrong(client, 'listComputes', {}, /no local service runs/);
    const second = await startLocalService({ dataDir: restarted, postgres: false });
    await right(client, 'listComputes');
    await second.stop();
  });

  it('remembers in a private file, without a password or key', async function () {
    const client = await connect();
    const made = await right(client, 'createBranch', { hours: 1, includePassword: true });
    const file = path.join(dataDir, 'agents.json');
    const text = readFileSync(file, 'utf8');
    assert.ok(text.includes(String(made['branchId'])));
    assert.ok(!text.includes(new URL(String(made['connectionString'])).password));
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    await right(client, 'deleteBranch', { projectId: made['projectId'], branchId: made['branchId'] });
  });

  it('has a key of its own, which the service accepts only during its lease', async () => {
    const owner = await findOwner(dataDir);
    const address = owner && (await findAddress(dataDir, owner));
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
});
