/** What clients do to calls and results, as their versions of November 2026 do it: see docs/agents.md. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { Ajv } from 'ajv';
import { fieldsOf } from '../../../src/base/fieldsOf.ts';
import { branchCalls, emptyAccount } from '../../helpers/branchCalls.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { connectAgent } from './connectAgent.ts';

describe('Clients of the MCP server', () => {
  let service: LocalService;

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    await branchCalls(service).change('POST', '', { project: { name: 'Shop' } });
  });

  const connect = (name: string, isLegacy = true) =>
    connectAgent({ HOSTED_POSTGRES_DATA_DIR: service.dataDir }, { name, isLegacy });

  it('drops what Gemini CLI adds to each call, and only that, and only from Gemini CLI', async () => {
    const gemini = await connect('gemini-cli-mcp-client');
    await gemini.call('listComputes', { wait_for_previous: true });
    await assert.rejects(gemini.call('listComputes', { wait_for_previous: true, projct: 'shop' }), {
      message: 'Unknown input projct.',
    });
    const other = await connect('claude-code', false);
    await assert.rejects(other.call('listComputes', { wait_for_previous: true }), {
      message: 'Unknown input wait_for_previous.',
    });
  });

  it('gives the reason of a failure as text and as structure, which older clients check', async () => {
    const { client } = await connect('codex-mcp-client');
    const { tools } = await client.listTools();
    const ajv = new Ajv({ strict: false });
    for (const { name, outputSchema } of tools) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: { x: 1 } });
      assert.equal(isError, true, name);
      const { error } = fieldsOf(structuredContent);
      assert.match(String(error), /^Unknown input x\.$|must be of type string\.$/);
      assert.deepEqual(content, [{ type: 'text', text: error }]);
      assert.ok(
        ajv.validate({ ...fieldsOf(outputSchema) }, structuredContent),
        `${name}: ${ajv.errorsText()}`,
      );
    }
  });

  it('runs the changes of a turn in order, and shows the last one what the others did', async () => {
    const { call } = await connect('copilot-cli', false);
    const { projectId, branchId } = await call('createBranch', { hours: 1 });
    const run = (sql: string) => call('runSql', { projectId, branchId, sql, write: true });
    const statements = Array.from({ length: 8 }, (_, index) => `INSERT INTO turns VALUES (${index})`);
    const sent = ['CREATE TABLE turns (call int, id int GENERATED ALWAYS AS IDENTITY)', ...statements].map(
      run,
    );
    const sql = 'SELECT call FROM turns ORDER BY id';
    const read = call('readSql', { projectId, branchId, sql });
    await Promise.all(sent);
    assert.deepEqual((await read)['rows'], [['0'], ['1'], ['2'], ['3'], ['4'], ['5'], ['6'], ['7']]);
    await call('deleteBranch', { projectId, branchId });
  });

  it('returns rows in lines, of a size that all clients show', async () => {
    const { client, call } = await connect('opencode', false);
    const { projectId, branchId } = await call('createBranch', { hours: 1 });
    const sql = "SELECT n, repeat('word ', 20) FROM generate_series(1, 900) n";
    const input = { projectId, branchId, sql, maxRows: 1000 };
    const { content, structuredContent } = await client.callTool({ name: 'readSql', arguments: input });
    const [part] = content;
    assert.ok(part?.type === 'text');
    // Copilot CLI shows both the text and the structure, if they have at most 20 KB together.
    const both = part.text.length + JSON.stringify(structuredContent).length;
    assert.ok(both > 17_000 && both < 18_500, `${both} characters`);
    assert.match(part.text, /^\["1","word .*"\],$/m);
    assert.match(part.text, /^"truncated":true,$/m);
    const rest = await call('readSql', { ...input, sql: `${sql} OFFSET 70` });
    assert.match(String(rest['rows']), /^71,word/);
    await call('deleteBranch', { projectId, branchId });
  });

  it('compares the schema with a parent that does not have the table whose rows are compared', async () => {
    const { call } = await connect('qwen-cli-mcp-client-hosted-postgres');
    const { projectId, branchId } = await call('createBranch', { hours: 1 });
    const branch = { projectId, branchId };
    await call('runSql', { ...branch, sql: 'CREATE TABLE fresh (id int PRIMARY KEY)', write: true });
    for (const rowsOf of ['fresh', 'SELECT * FROM fresh']) {
      const { diff, rows, note } = await call('compareSchema', { ...branch, rowsOf });
      assert.match(String(diff), /CREATE TABLE public\.fresh/);
      assert.equal(rows, undefined);
      assert.match(String(note), /^Rows weren't compared: .*(exist|fresh)/);
    }
    await assert.rejects(call('compareSchema', { ...branch, rowsOf: 'SELECT FROM WHERE' }), /syntax error/);
    await call('deleteBranch', branch);
  });

  it('finds the local service of its argument, because some clients pass on almost no variables', async () => {
    const name = 'codex-mcp-client';
    const without = await connectAgent({}, { name });
    await assert.rejects(without.call('listComputes'), /no local service runs/);
    const args = [path.join(await builtMcp(), 'dist', 'mcp.js'), '--data-dir', service.dataDir];
    const agent = await connectAgent({}, { name, args });
    assert.match(JSON.stringify(await agent.call('listComputes')), /Shop/);
  });
});
