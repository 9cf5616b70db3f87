import assert from 'node:assert/strict';
import { fieldsOf } from '../../../../../src/base/fieldsOf.ts';
import { listTools, AGENT_TOOLS } from '../../../../../src/extension/agents/tools/toolTable.ts';
import { readText } from '../../../../helpers/projectFiles.ts';

/** What 3,380 tokens of it have, as counted with the package gpt-tokenizer: 4.19 characters a token. */
const MAX_CHARACTERS = 14_150;

describe('The table of tools', () => {
  const tools = listTools();

  it('has at most fifteen tools, which a model reads in few words', () => {
    assert.ok(tools.length <= 15);
    const { length } = JSON.stringify({ tools });
    assert.ok(length <= MAX_CHARACTERS, `${length} characters`);
  });

  it('has hints that agree with one another', () => {
    for (const { name, annotations } of tools) {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
      if (readOnlyHint) assert.ok(!destructiveHint && idempotentHint, name);
      assert.equal(readOnlyHint, /^(list|get|compare|read)/.test(name), name);
      assert.equal(destructiveHint, !readOnlyHint && !/^(start|create|rehearse)/.test(name), name);
      assert.equal(
        idempotentHint,
        !['createBranch', 'restartCompute', 'runSql', 'undo'].includes(name),
        name,
      );
      assert.equal(openWorldHint, false, name);
    }
  });

  it('offers without a user what docs/agents.md says', () => {
    const text = readText('docs/agents.md');
    const row = (client: string) => new RegExp(`^\\| ${client} .*\\| (\\d+) `, 'm').exec(text)?.[1];
    const reading = tools.filter(({ annotations }) => annotations.readOnlyHint);
    const harmless = tools.filter(
      ({ annotations }) =>
        !annotations.readOnlyHint && !annotations.destructiveHint && !annotations.openWorldHint,
    );
    const codex = [...reading, ...harmless];
    for (const [client, count] of [
      ['Copilot CLI', reading.length],
      ['Codex', codex.length],
      ['opencode', tools.length],
    ] as const)
      assert.equal(row(client), String(count), client);
    assert.match(text, new RegExp(`calls all ${tools.length} tools`));
    for (const { name } of codex) assert.ok(text.includes(`\`${name}\``), name);
  });

  it('lets a branch exist for an hour to a month', () => {
    const accepted = [0, 1, 1.5, 720, 721].filter(
      (hours) => AGENT_TOOLS.createBranch.input.safeParse({ hours }).success,
    );
    assert.deepEqual(accepted, [1, 720]);
  });

  it('returns at most a thousand rows of SQL', () => {
    const accepted = [0, 1, 1000, 1001].filter(
      (maxRows) =>
        AGENT_TOOLS.runSql.input.safeParse({ projectId: 'shop', branchId: 'br-a', sql: '', maxRows }).success,
    );
    assert.deepEqual(accepted, [1, 1000]);
  });

  it('has the titles that VS Code shows', () => {
    const shown = JSON.parse(readText('package.nls.json'));
    for (const { name, title } of tools)
      assert.equal(title.toLowerCase(), shown[`tool.${name}`].toLowerCase(), name);
  });

  it('accepts objects without unknown fields, and may return more fields than it describes, or an error', () => {
    for (const { name, inputSchema, outputSchema } of tools) {
      assert.equal(inputSchema.type, 'object', name);
      assert.equal(inputSchema['additionalProperties'], false, name);
      assert.equal(outputSchema['additionalProperties'], undefined, name);
      assert.equal(outputSchema['required'], undefined, name);
      assert.deepEqual(fieldsOf(outputSchema['properties'])['error'], { type: 'string' }, name);
    }
  });
});
