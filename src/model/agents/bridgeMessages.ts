/**
 * The protocol between the MCP server (`src/mcp`) and a window: lines of JSON over a socket. Each connection has one greeting of
 * the window, one request and one reply. So closing it cancels the call, and replies can't be mixed up.
 */
import type { Socket } from 'node:net';
import * as z from 'zod/mini';

/** In bytes, with its end. */
export const MAX_LINE = 1024 * 1024;

const text = z.string();

const BridgeCall = z.strictObject({
  tool: text,
  /** Checked by the tool's schema. */
  input: z.unknown(),
  /** As the MCP client calls itself. */
  agent: text,
  /** The folder that the MCP program was started in; empty if it is gone. */
  folder: text,
});
export type BridgeCall = z.infer<typeof BridgeCall>;

export const BridgeRequest = z.strictObject({
  /** Of the window's record. */
  token: text,
  /** Without one, the connection says that VS Code has started the MCP program for this window, while it lasts. */
  call: z.optional(BridgeCall),
});
export type BridgeRequest = z.infer<typeof BridgeRequest>;

/** @property error a sentence for the model */
export type BridgeReply = { readonly result: object } | { readonly error: string };

/** Calls back for each line. A line that is too long ends the connection. */
export function readLines(socket: Socket, onLine: (line: string) => void): void {
  let parts: Buffer[] = [];
  let size = 0;
  socket.on('data', (chunk: Buffer) => {
    for (let rest = chunk; rest.length > 0 && !socket.destroyed;) {
      const end = rest.indexOf('\n') + 1;
      const part = end === 0 ? rest : rest.subarray(0, end);
      rest = rest.subarray(part.length);
      parts.push(part);
      size += part.length;
      if (size > MAX_LINE) socket.destroy();
      else if (end > 0) {
        const line = Buffer.concat(parts).toString();
        parts = [];
        size = 0;
        onLine(line);
      }
    }
  });
}

export const lineOf = (message: BridgeRequest | BridgeReply | { readonly version: string }): string =>
  `${JSON.stringify(message)}\n`;
