/** Why the service cannot start. Each reason has its own exit code, so that scripts can distinguish them. */
import { isEngineError } from './core/computeEngine.ts';
import { systemReason } from './core/systemReason.ts';
import type { DataErrorReason } from './state/dataError.ts';

export type StartErrorReason = DataErrorReason | 'usage' | 'portInUse' | 'projectsFile' | 'revokedKey';

/** `message` is one line for users. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: StartErrorReason;

  constructor(reason: StartErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const UNEXPECTED_EXIT_CODE = 1;
const EXIT_CODES: Readonly<Record<StartErrorReason, number>> = {
  usage: 2,
  alreadyRunning: 3,
  portInUse: 4,
  notUsable: 5,
  newerFormat: 6,
  corrupt: 7,
  projectsFile: 8,
  revokedKey: 9,
};

/** Returns what to print and the exit code for any error that ends the program. */
export function describeFailure(error: unknown): { readonly message: string; readonly exitCode: number } {
  if (hasReason(error)) return { message: error.message, exitCode: EXIT_CODES[error.reason] };
  // A new account needs addresses from the engine; the message names the file.
  if (isEngineError(error)) return { message: error.message, exitCode: EXIT_CODES.notUsable };
  return { message: `Cannot start: ${systemReason(error)}`, exitCode: UNEXPECTED_EXIT_CODE };
}

/** Whether it is a StartError or a DataError. Each bundle has its own copy of these classes, but all have a reason. */
const hasReason = (error: unknown): error is Error & { readonly reason: StartErrorReason } =>
  error instanceof Error &&
  'reason' in error &&
  typeof error.reason === 'string' &&
  Object.hasOwn(EXIT_CODES, error.reason);
