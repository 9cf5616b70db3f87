/** An agent as its own editor runs it: the client of the MCP SDK, and the server that a configuration names. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fieldsOf } from '../../src/base/fieldsOf.ts';
import { TEST_LIMIT } from '../limits.ts';
import { atEndOfTest } from './atEndOfTest.ts';

export interface Agent {
  readonly client: Client;
  /** @returns the structured result @throws {Error} with the text that the model gets if the call fails */
  readonly call: (tool: string, input?: object) => Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

export interface AgentOptions {
  readonly command: string;
  readonly args?: string[];
  /** Where the agent works. */
  readonly cwd: string;
  readonly name: string;
  readonly env?: Record<string, string>;
  /** Whether it speaks only the older version of the protocol. */
  readonly isLegacy?: boolean;
}

/** It stops with the test at the latest. */
export async function startAgent({ name, isLegacy, ...server }: AgentOptions): Promise<Agent> {
  const mode = isLegacy === true ? 'legacy' : 'auto';
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode } });
  atEndOfTest(() => client.close());
  await client.connect(new StdioClientTransport(server));
  return {
    client,
    async call(tool, input = {}) {
      const { content, structuredContent, isError } = await client.callTool(
        { name: tool, arguments: { ...input } },
        // The limit of the SDK, a minute, is one of a fast machine.
        { timeout: TEST_LIMIT },
      );
      const text = content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');
      if (isError === true) throw new Error(text);
      assert.deepEqual(JSON.parse(text), structuredContent);
      return fieldsOf(structuredContent);
    },
    stop: () => client.close(),
  };
}
