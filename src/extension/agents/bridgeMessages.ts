/**
 * The protocol between the MCP server (`src/mcp`) and a window: lines of JSON over a socket. The window sends a greeting. The server
 * sends a random nonce, and the window answers with a proof that it knows the secret in its record. This is necessary because the
 * window of a record may have ended, and a program of another user may listen at its address. Then there is one request and one
 * reply: `result`, or `error` with a sentence for the model. With one call for each connection, closing it cancels the call.
 */
import type { Socket } from 'node:net';
import * as z from 'zod/mini';

const BridgeCall = z.strictObject({
  tool: z.string(),
  /** The input, which the tool's schema checks. */
  input: z.unknown(),
  /** The name that the MCP client has given itself. */
  agent: z.string(),
  /** The folder that the MCP program was started in, unless it is gone. */
  folder: z.optional(z.string()),
});
export type BridgeCall = z.infer<typeof BridgeCall>;

/**
 * The window replies to this with a proof, see `leaseProof.ts`. Earlier versions of the server send no challenge, and wait for the
 * greeting.
 */
export const BridgeChallenge = z.strictObject({ nonce: z.string() });
export const BridgeProof = z.strictObject({ proof: z.string() });

export const BridgeRequest = z.strictObject({
  /** The token in the window's record. */
  token: z.string(),
  /**
   * A connection without a call means that VS Code has started the MCP program for this window. Such a connection ends with the
   * program.
   */
  call: z.optional(BridgeCall),
});
export type BridgeRequest = z.infer<typeof BridgeRequest>;

/** Calls `onLine` for each line. A line that is longer than `limit`, in characters, ends the connection. */
export function readLines(
  socket: Socket,
  onLine: (line: string) => void,
  limit: () => number = () => Infinity,
): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    const max = limit();
    if (lines.some(({ length }) => length > max)) return void socket.destroy();
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

export const toMessageLine = (message: object): string => `${JSON.stringify(message)}\n`;
