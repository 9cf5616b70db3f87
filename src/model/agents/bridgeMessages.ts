/**
 * The protocol between the MCP server (`src/mcp`) and a window: lines of JSON over a socket. Each connection has one greeting of
 * the window, one request and one reply: `result`, or `error` with a sentence for the model. So closing it cancels the call,
 * and replies can't be mixed up.
 */
import type { Socket } from 'node:net';
import * as z from 'zod/mini';

const BridgeCall = z.strictObject({
  tool: z.string(),
  /** Checked by the tool's schema. */
  input: z.unknown(),
  /** As the MCP client calls itself. */
  agent: z.string(),
  /** The folder that the MCP program was started in, unless it is gone. */
  folder: z.optional(z.string()),
});
export type BridgeCall = z.infer<typeof BridgeCall>;

export const BridgeRequest = z.strictObject({
  /** Of the window's record. */
  token: z.string(),
  /** Without one, the connection says that VS Code has started the MCP program for this window, while it lasts. */
  call: z.optional(BridgeCall),
});
export type BridgeRequest = z.infer<typeof BridgeRequest>;

/** Calls back for each line. A line that is longer than `limit`, in characters, ends the connection. */
export function readLines(socket: Socket, onLine: (line: string) => void, limit = Infinity): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    if (lines.some(({ length }) => length > limit)) return void socket.destroy();
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

export const lineOf = (message: object): string => `${JSON.stringify(message)}\n`;
