/** The meaning of an operation's status (section 2.6 and the public service). */

interface WithStatus {
  readonly status: string;
}

const FINAL_STATUSES: ReadonlySet<string> = new Set(['finished', 'failed', 'error', 'cancelled', 'skipped']);
const FAILED_STATUSES: ReadonlySet<string> = new Set(['failed', 'error', 'cancelled']);

/** Whether the operation has ended. */
export const isFinal = (operation: WithStatus): boolean => FINAL_STATUSES.has(operation.status);

export const hasFailed = (operation: WithStatus): boolean => FAILED_STATUSES.has(operation.status);
