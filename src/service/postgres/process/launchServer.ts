/** Starts the server of a compute on its data directory. */
import path from 'node:path';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { writePrivateFile } from '../data/privateFiles.ts';
import { writeSizeFile, configurationFile, fixedArguments, userSettings } from '../config/settings.ts';
import type { ServerTools } from '../data/branchData.ts';
import { endServer } from './orphans.ts';
import { Postmaster, type PostmasterOptions } from './postmaster.ts';
import type { ServerAddress } from '../network/serverAddress.ts';

export interface LaunchOptions {
  readonly compute: ComputeSpec;
  readonly dataDir: string;
  readonly address: ServerAddress;
  readonly onLine: (line: string) => void;
  /** Further settings of the service, in the file and on the command line (which wins). */
  readonly inFile?: ReadonlyMap<string, string>;
  readonly onCommandLine?: ReadonlyMap<string, string | number>;
}

/** Processes of a killed server may still use its shared memory. Milliseconds. */
const LEFTOVER_LIMIT = 10_000;
const LEFTOVER_PAUSE = 100;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;

/** @throws {EngineError} with Postgres's reason */
export async function launchServer(tools: ServerTools, start: LaunchOptions): Promise<Postmaster> {
  const settings = new Map([...userSettings(start.compute.pgSettings), ...(start.inFile ?? [])]);
  writePrivateFile(path.join(start.dataDir, 'postgresql.conf'), configurationFile(settings));
  writeSizeFile(start.dataDir, start.compute.minCu);
  const args = fixedArguments(start.compute, start.address, start.onCommandLine);
  return startServer({ ...tools, ...start, args });
}

/** Starts a server with the files that its data directory has. @throws {EngineError} with Postgres's reason */
export async function startServer(options: PostmasterOptions): Promise<Postmaster> {
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      return await Postmaster.start(options);
    } catch (error) {
      if (!(error instanceof EngineError) || !LEFTOVER.test(error.message) || performance.now() > until)
        throw error;
      await endServer(options.dataDir);
      await new Promise((resolve) => setTimeout(resolve, LEFTOVER_PAUSE));
    }
  }
}
