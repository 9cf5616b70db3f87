import assert from 'node:assert/strict';
import { listTools, TOOLS } from '../../../../../src/model/agents/tools/toolTable.ts';

/** What 2,500 tokens of it have, as counted with the package gpt-tokenizer: 4.19 characters a token. */
const MAX_CHARACTERS = 10_475;

describe('The table of tools', () => {
  const tools = listTools();

  it('has at most twelve tools, which a model reads in few words', () => {
    assert.ok(tools.length <= 12);
    const { length } = JSON.stringify({ tools });
    assert.ok(length <= MAX_CHARACTERS, `${length} characters`);
  });

  it('has hints that agree with one another', () => {
    for (const { name, annotations } of tools) {
      const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
      if (readOnlyHint) assert.ok(!destructiveHint && idempotentHint, name);
      assert.equal(readOnlyHint, /^(list|get|compare)/.test(name), name);
      assert.equal(destructiveHint, !readOnlyHint && !/^(start|create)/.test(name), name);
      assert.equal(idempotentHint, !['createBranch', 'restartCompute', 'runSql'].includes(name), name);
    }
  });

  it('lets a branch exist for an hour to a month', () => {
    const accepted = [0, 1, 1.5, 720, 721].filter(
      (hours) => TOOLS.createBranch.input.safeParse({ hours }).success,
    );
    assert.deepEqual(accepted, [1, 720]);
  });

  it('accepts objects without unknown fields', () => {
    for (const { name, inputSchema } of tools) {
      assert.equal(inputSchema.type, 'object', name);
      assert.equal(inputSchema['additionalProperties'], false, name);
    }
  });
});
