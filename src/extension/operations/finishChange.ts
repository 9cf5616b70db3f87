import type { AccountConnection } from '../account/accountConnection.ts';
import { ConnectionClosedError } from '../window/changeErrors.ts';
import type { SendResult } from './changeSender.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { ChangeEnd } from './pendingChange.ts';

/**
 * Sends a change of a branch or compute and waits until its operations have ended.
 * @param connection the one that the change is sent with. Operations of another account aren't followed
 * @param stop ends the wait. The result then still has its `pendingId`
 * @throws {ApiError} @throws {ConnectionClosedError} @throws {Error} if an operation failed
 */
export async function finishChange(
  tracker: Pick<OperationTracker, 'onDidEnd'>,
  connection: AccountConnection | undefined,
  send: () => Promise<SendResult>,
  stop?: AbortSignal,
): Promise<SendResult> {
  const ends: ChangeEnd[] = [];
  const { promise, resolve } = Promise.withResolvers<ChangeEnd | undefined>();
  const stopped = AbortSignal.any([connection?.signal, stop].filter((signal) => signal !== undefined));
  let result: SendResult | undefined;
  const resolveIfEnded = () => {
    if (result === undefined) return;
    const { pendingId } = result;
    const end = ends.find(({ change }) => change.id === pendingId);
    if (end !== undefined || stopped.aborted) resolve(end);
  };
  // Listens before the change is sent, because its operations may end before the lists are reloaded.
  const listener = tracker.onDidEnd((end) => {
    ends.push(end);
    resolveIfEnded();
  });
  stopped.addEventListener('abort', resolveIfEnded);
  try {
    result = await send();
    if (result.pendingId === undefined) return result;
    resolveIfEnded();
    const end = await promise;
    if (end === undefined && connection?.isClosed === true) throw new ConnectionClosedError(true);
    if (end !== undefined && end.outcome !== 'finished') {
      const { verb, computeId } = end.change;
      const what = computeId === undefined ? 'branch' : 'compute';
      throw new Error(`The service couldn't ${verb} the ${what}. ${end.reason ?? ''}`.trim());
    }
    return end === undefined ? result : { ...result, pendingId: undefined };
  } finally {
    listener.dispose();
    stopped.removeEventListener('abort', resolveIfEnded);
  }
}
