/** The engine in the service's own process, for a service that does not run as root. */
import path from 'node:path';
import type { ComputeEngine } from '../core/computeEngine.ts';
import { createPostgresEngine } from './engine.ts';
import { findPrograms } from './config/programs.ts';

export interface EngineChoice {
  /** Folder of the service's state; the engine keeps to a folder of its own in it. */
  readonly dataDir: string;
  /** Folder with `postgres` and `initdb`; without it they are looked for. */
  readonly postgresPath?: string | undefined;
  /** Whether the data is removed when the engine is closed. */
  readonly isTemporary: boolean;
  /** Takes a line for the service's log. */
  readonly log: (line: string) => void;
}

export function createLocalEngine({ dataDir, postgresPath, isTemporary, log }: EngineChoice): ComputeEngine {
  const root = path.resolve(dataDir, 'postgres');
  return createPostgresEngine({ root, programs: findPrograms(postgresPath), isTemporary, log });
}
