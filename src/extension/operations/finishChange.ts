import type { SendResult } from './changeSender.ts';
import type { OperationTracker } from './operationTracker.ts';
import type { EndReport } from './pendingChange.ts';

/**
 * Sends a change of a branch or compute and waits until its operations have ended.
 * @param stop ends the wait. The result then is `isPending`
 * @throws {ApiError} @throws {Error} if an operation failed
 */
export async function finishChange(
  tracker: Pick<OperationTracker, 'onDidEnd'>,
  send: () => Promise<SendResult>,
  stop?: AbortSignal,
): Promise<SendResult> {
  const ends: EndReport[] = [];
  const { promise, resolve } = Promise.withResolvers<EndReport | undefined>();
  let id: string | undefined;
  const check = () => {
    const end = ends.find(({ change }) => (change.computeId ?? change.branchId) === id);
    if (id !== undefined && end !== undefined) resolve(end);
  };
  // Before the change is sent, because its operations may end before the lists are reloaded.
  const listener = tracker.onDidEnd((end) => {
    ends.push(end);
    check();
  });
  stop?.addEventListener('abort', () => resolve(undefined));
  try {
    const result = await send();
    if (!result.isPending) return result;
    id = (result.compute ?? result.branch)?.id;
    check();
    const end = await promise;
    if (end !== undefined && end.outcome !== 'finished') {
      const { verb, computeId } = end.change;
      const what = computeId === undefined ? 'branch' : 'compute';
      throw new Error(`The service couldn't ${verb} the ${what}. ${end.reason ?? ''}`.trim());
    }
    return { ...result, isPending: end === undefined };
  } finally {
    listener.dispose();
  }
}
