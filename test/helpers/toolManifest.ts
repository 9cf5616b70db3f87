/** What package.json says of the tools for agents, which comes from their table. */
import { listTools } from '../../src/model/agents/tools/toolTable.ts';

/** @param tools `languageModelTools` of package.json */
export const describedTools = <T extends { readonly name: string }>(tools: readonly T[]): T[] =>
  tools.map((tool) => {
    const found = listTools().find(({ name }) => tool.name === `hostedPostgres_${name}`);
    return found === undefined
      ? tool
      : { ...tool, modelDescription: found.description, inputSchema: found.inputSchema };
  });
