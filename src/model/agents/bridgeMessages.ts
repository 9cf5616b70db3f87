/**
 * What the MCP program (`src/mcp`) and a window say to each other: JSON, one line each way, then the connection ends. So
 * a client that goes away cancels its call, and no call can be taken for another.
 */
import * as z from 'zod/mini';

/** In bytes, with its end. */
export const MAX_LINE = 1024 * 1024;

const text = z.string();

/** A call of a tool. */
export const BridgeCall = z.strictObject({
  /** Of the window's record. */
  token: text,
  tool: text,
  /** Checked by the table of tools. */
  input: z.unknown(),
  /** As the MCP client calls itself. */
  agent: z.strictObject({ name: text, version: text }),
  /** The folder that the MCP program was started in. */
  folder: text,
});
export type BridgeCall = z.infer<typeof BridgeCall>;

export const BridgeReply = z.union([
  z.strictObject({ result: z.record(z.string(), z.unknown()) }),
  /** A sentence for the model. */
  z.strictObject({ error: z.string() }),
]);
export type BridgeReply = z.infer<typeof BridgeReply>;

/** How to reach a window: a file that only the user can read. */
export const WindowRecord = z.object({
  socket: z.string(),
  token: z.string(),
  /** Of the workspace. */
  folders: z.array(z.string()),
  version: z.string(),
});
export type WindowRecord = z.infer<typeof WindowRecord>;
