/** Why the service cannot start. Each reason has its own exit code, so that scripts can distinguish them. */
import { EngineError } from './core/computeEngine.ts';
import { systemReason } from './core/systemReason.ts';
import { DataError, type DataErrorReason } from './state/dataError.ts';

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
  if (error instanceof StartError || error instanceof DataError)
    return { message: error.message, exitCode: EXIT_CODES[error.reason] };
  // A new account needs addresses from the engine; the message names the file.
  if (error instanceof EngineError) return { message: error.message, exitCode: EXIT_CODES.notUsable };
  return { message: `Cannot start: ${systemReason(error)}`, exitCode: UNEXPECTED_EXIT_CODE };
}
