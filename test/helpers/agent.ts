/** An agent as its own editor runs it: the client of the MCP SDK, and the server that a configuration names. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fieldsOf } from '../../src/base/fieldsOf.ts';

export interface Agent {
  /** @returns the structured result @throws {Error} with the text that the model gets if the call fails */
  call(tool: string, input: object): Promise<Readonly<Record<string, unknown>>>;
  stop(): Promise<void>;
}

interface AgentOptions {
  readonly command: string;
  readonly args: string[];
  /** Where the agent works. */
  readonly cwd: string;
  readonly name: string;
}

export async function startAgent({ name, ...server }: AgentOptions): Promise<Agent> {
  const client = new Client({ name, version: '1.0.0' });
  await client.connect(new StdioClientTransport(server));
  return {
    async call(tool, input) {
      const { content, structuredContent, isError } = await client.callTool({
        name: tool,
        arguments: { ...input },
      });
      const [first] = content;
      if (isError === true) throw new Error(first?.type === 'text' ? first.text : 'no text');
      return fieldsOf(structuredContent);
    },
    stop: () => client.close(),
  };
}
