import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import type { EndReport } from '../../operations/pendingChange.ts';
import type { ToolCall } from './toolCall.ts';

/** Milliseconds. MCP clients give up after 60 s by default. */
const OPERATIONS_WAIT = 45_000;

/**
 * Sends a change of a branch and waits until its operations have ended.
 * @returns `isPending` if the wait was too long or the agent has canceled the call
 * @throws {ApiError} @throws {Error} for the agent if an operation failed
 */
export async function changeBranch(
  { deps: { tracker }, connection, signal }: ToolCall<unknown>,
  send: (options: SendOptions) => Promise<SendResult>,
): Promise<SendResult> {
  const ends: EndReport[] = [];
  const { promise, resolve } = Promise.withResolvers<EndReport | undefined>();
  let branchId: string | undefined;
  const check = () => {
    const end = ends.find(({ change }) => change.branchId === branchId);
    if (branchId !== undefined && end !== undefined) resolve(end);
  };
  // Before the change is sent, because its operations may end before the lists are reloaded.
  const listener = tracker.onDidEnd((end) => {
    ends.push(end);
    check();
  });
  const stop = AbortSignal.any([signal, AbortSignal.timeout(OPERATIONS_WAIT)]);
  stop.addEventListener('abort', () => resolve(undefined));
  try {
    const result = await send({ signal, initialConnection: connection });
    if (!result.isPending) return result;
    branchId = result.branch?.id;
    check();
    const end = await promise;
    if (end !== undefined && end.outcome !== 'finished')
      throw new Error(`The service couldn't ${end.change.verb} the branch. ${end.reason ?? ''}`.trim());
    return { ...result, isPending: end === undefined };
  } finally {
    listener.dispose();
  }
}
