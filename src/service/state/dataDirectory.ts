/** The folder of all state: made when missing, private, and a temporary one when none was named. */
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StartFailure, systemReason } from '../core/systemReason.ts';

export interface DataDirectory {
  readonly folder: string;
  /** Takes away what was only for this run. */
  dispose(): void;
}

/** @throws {StartFailure} when it cannot be made or written */
export function openDataDirectory(wanted: string | undefined): DataDirectory {
  if (wanted === undefined) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-'));
    return { folder, dispose: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
  }
  const folder = path.resolve(wanted);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartFailure(
      'dataDirectory',
      `Cannot use the data directory ${folder}: ${systemReason(error)}`,
    );
  }
  return { folder, dispose: () => undefined };
}
