/**
 * Clients send all calls of a turn at once. So a change of a branch waits for the earlier calls about the branch, and each call
 * waits for the earlier changes, in the order of arrival.
 */
import { fieldsOf } from '../../base/fieldsOf.ts';
import { findTool } from './tools/toolTable.ts';

interface Subject {
  readonly projectId: unknown;
  readonly branchId: unknown;
  readonly computeId: unknown;
  readonly isReading: boolean;
}

interface PendingCall {
  readonly subject: Subject;
  readonly ended: Promise<void>;
}

/** Decides when each call of a tool may begin. */
export class CallOrder {
  readonly #pending = new Set<PendingCall>();

  /**
   * Makes a call when it is its turn. Rejects with the reason of the signal if that is aborted while the call waits.
   * @param name the name of the tool, which may be any text
   */
  async run<T>(name: string, input: unknown, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const subject = subjectOfCall(name, input);
    const earlier = [...this.#pending].filter((other) => mustWait(other.subject, subject));
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const pending = { subject, ended };
    this.#pending.add(pending);
    try {
      if (earlier.length > 0)
        await settledOrAborted(Promise.all(earlier.map((other) => other.ended)), signal);
      signal.throwIfAborted();
      return await call();
    } finally {
      this.#pending.delete(pending);
      end();
    }
  }
}

function subjectOfCall(name: string, input: unknown): Subject {
  const tool = findTool(name);
  const fields = fieldsOf(input);
  const isReading = tool?.hints.readOnlyHint === true || tool?.onlyReads?.(fields) === true;
  return {
    projectId: fields['projectId'],
    branchId: fields['branchId'],
    computeId: fields['computeId'],
    isReading,
  };
}

/** Whether the later call has to wait. A call that names only a compute may be about each branch of the project. */
function mustWait(earlier: Subject, later: Subject): boolean {
  if (earlier.isReading && later.isReading) return false;
  if (!hasBranch(earlier) || !hasBranch(later) || earlier.projectId !== later.projectId) return false;
  const isOther = earlier.branchId !== undefined && later.branchId !== undefined;
  return !isOther || earlier.branchId === later.branchId;
}

/** Whether a call is about branches that exist. A call that names neither branch nor compute lists something, or creates a branch. */
const hasBranch = ({ branchId, computeId }: Subject): boolean =>
  branchId !== undefined || computeId !== undefined;

/** Resolves or rejects as the promise does, or rejects with the reason of the signal if that is aborted first. */
async function settledOrAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
