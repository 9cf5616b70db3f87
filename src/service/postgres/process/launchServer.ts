/** Starts the server of a compute: a primary on its branch's data, a read replica on its own copy. */
import path from 'node:path';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { writePrivateFile } from '../data/privateFiles.ts';
import { writeSizeFile } from '../config/sizeFile.ts';
import type { ServerTools } from '../data/branchData.ts';
import { endServer } from './orphans.ts';
import { Postmaster } from './postmaster.ts';
import type { ServerAddress } from '../network/serverAddress.ts';
import { configurationFile, fixedArguments, userSettings } from '../config/settings.ts';

export interface LaunchOptions {
  readonly compute: ComputeSpec;
  readonly dataDir: string;
  readonly address: ServerAddress;
  readonly onLine: (line: string) => void;
  /** Settings of the service's for this start alone: in the file, and (as they win) on the command line. */
  readonly inFile?: ReadonlyMap<string, string>;
  readonly onCommandLine?: ReadonlyMap<string, string | number>;
}

/** Processes of a server that was killed may hold its memory for a moment after it. Milliseconds. */
const LEFTOVER_LIMIT = 10_000;
const LEFTOVER_PAUSE = 100;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;

/** Starts a server on a data directory. @throws {EngineError} with Postgres's own reason */
export async function launchServer(tools: ServerTools, start: LaunchOptions): Promise<Postmaster> {
  const settings = new Map([...userSettings(start.compute.pgSettings), ...(start.inFile ?? [])]);
  writePrivateFile(path.join(start.dataDir, 'postgresql.conf'), configurationFile(settings));
  writeSizeFile(start.dataDir, start.compute.minCu);
  const options = {
    ...tools,
    dataDir: start.dataDir,
    address: start.address,
    args: fixedArguments(start.compute, start.address, start.onCommandLine),
    onLine: start.onLine,
  };
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      return await Postmaster.start(options);
    } catch (error) {
      if (!(error instanceof EngineError) || !LEFTOVER.test(error.message) || performance.now() > until)
        throw error;
      await endServer(start.dataDir);
      await new Promise((resolve) => setTimeout(resolve, LEFTOVER_PAUSE));
    }
  }
}
