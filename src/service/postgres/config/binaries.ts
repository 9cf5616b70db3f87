/** Chooses the Postgres to run: the first with a supported version. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { serverEnvironment } from '../process/runProgram.ts';
import { EXE, OLDEST_MAJOR, type Programs } from './programs.ts';

export interface Binaries {
  /** Folder with `postgres` and `initdb`. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, as in PG_VERSION. */
  readonly major: number;
}

/** @returns the binaries, or a message for the user */
export function chooseBinaries({ first, others, missing }: Programs): Binaries | string {
  for (const folder of first === undefined ? others : [first, ...others]) {
    const [postgres, initdb] = [path.join(folder, `postgres${EXE}`), path.join(folder, `initdb${EXE}`)];
    const major = majorOf(postgres);
    if (major >= OLDEST_MAJOR) return { folder, postgres, initdb, major };
  }
  return missing;
}

function majorOf(postgres: string): number {
  try {
    const version = execFileSync(postgres, ['--version'], { encoding: 'utf8', env: serverEnvironment() });
    return Number(/ (\d+)/.exec(version)?.[1] ?? 0);
  } catch {
    return 0; // A binary that does not even tell its version (another architecture, missing libraries) is no use.
  }
}
