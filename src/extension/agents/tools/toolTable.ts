/** All tools for agents, and how MCP's `tools/list` and package.json, which `npm run manifest` writes, describe them. */
import * as z from 'zod/mini';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { branchTools } from './branchTools.ts';
import { compareTools } from './compareTool.ts';
import { computeTools } from './computeTools.ts';
import { rehearseTools } from './sql/rehearseTool.ts';
import { sqlTools } from './sql/sqlTool.ts';
import { markTurn, undoTools } from './undoTool.ts';
import type { Tool } from './tool.ts';

/** The tools by their public names. */
export const AGENT_TOOLS = {
  ...computeTools,
  ...branchTools,
  ...compareTools,
  ...sqlTools,
  ...rehearseTools,
  ...undoTools,
} satisfies Record<string, Tool>;

export type ToolName = keyof typeof AGENT_TOOLS;
export type ToolInput<N extends ToolName> = z.infer<(typeof AGENT_TOOLS)[N]['input']>;
export type ToolOutput<N extends ToolName> = z.infer<(typeof AGENT_TOOLS)[N]['output']>;

/** @param name any text */
export const findTool = (name: string): Tool | undefined => {
  if (name === 'markTurn') return markTurn;
  return Object.hasOwn(AGENT_TOOLS, name) ? AGENT_TOOLS[name as ToolName] : undefined;
};

/** Describes all tools. This is a function, so that the extension doesn't bundle the code for JSON Schema that the function needs. */
export const listTools = () =>
  Object.entries<Tool>(AGENT_TOOLS).map(([name, { title, description, input, output, hints }]) => ({
    name,
    title,
    description,
    inputSchema: jsonSchema(input),
    outputSchema: resultSchema(output),
    annotations: hints,
  }));

interface Schema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * Returns the JSON Schema of an input or output. The schema of an output allows more fields than are known, because a later
 * version may add some.
 */
function jsonSchema(schema: z.ZodMiniType): Schema {
  const { $schema: _, properties, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return { ...rest, type: 'object', properties };
}

/**
 * Returns the schema of a result or a failure, which has only `error`. Older clients don't show a result or failure that doesn't
 * match.
 */
function resultSchema(output: z.ZodMiniType): Schema {
  const { required: _, properties, ...rest } = jsonSchema(output);
  return { ...rest, properties: { ...fieldsOf(properties), error: { type: 'string' } } };
}
