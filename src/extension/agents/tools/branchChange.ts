import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import { finishChange } from '../../operations/finishChange.ts';
import type { ToolCall } from './toolCall.ts';

/** The most milliseconds that a call waits for operations. MCP clients give up after 60 s by default. */
export const MAX_OPERATIONS_WAIT = 45_000;

/**
 * Sends a change of a branch and waits until its operations have ended.
 * @returns a `pendingId` if the wait was too long or the agent has canceled the call
 * @throws {ApiError} @throws {Error} with a message for the agent if an operation failed
 */
export const changeBranch = (
  { deps: { tracker }, connection, signal }: ToolCall<unknown>,
  send: (options: SendOptions) => Promise<SendResult>,
): Promise<SendResult> =>
  finishChange(
    tracker,
    connection,
    () => send({ signal, initialConnection: connection }),
    AbortSignal.any([signal, AbortSignal.timeout(MAX_OPERATIONS_WAIT)]),
  );
