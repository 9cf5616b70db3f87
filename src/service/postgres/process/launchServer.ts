/** Starts servers: of a compute, and for the service's own work. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import {
  certificateArguments,
  configurationFile,
  fixedArguments,
  REPLICAS_FILE,
  settingArguments,
  settingsLines,
  userSettings,
  type StandbySettings,
} from '../config/settings.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { writePrivateFile } from '../data/files.ts';
import { addressOf, LOOPBACK, type ServerAddress } from '../network/serverAddress.ts';
import { stopOrphan } from './orphans.ts';
import { runProgram } from './runProgram.ts';
import { Postmaster } from './postmaster.ts';

interface LaunchOptions {
  readonly compute: ComputeSpec;
  readonly dataDir: string;
  /** For its address: the id of its branch for a primary, of its compute for a replica. */
  readonly name: string;
  readonly onLine: (line: string) => void;
  /** Further settings of the service, in the file and on the command line (which wins). */
  readonly inFile?: Readonly<Record<string, string>>;
  readonly onCommandLine?: StandbySettings;
}

/** Processes of a killed server may still use its shared memory. Milliseconds. */
const LEFTOVER_LIMIT = 10_000;
const LEFTOVER_PAUSE = 100;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;
/** The first recovery of a copy was killed. The next one needs the label again, which Postgres has renamed. */
const NEEDS_LABEL = /WAL ends before end of online backup/;
/** Another program has taken the server's port. */
const PORT_TAKEN = /could not (create any TCP\/IP sockets|bind IPv4 address)/;

/** @throws {EngineError} with Postgres's reason */
export async function launchServer(deps: ServerDependencies, start: LaunchOptions): Promise<Postmaster> {
  const settings = new Map([
    ...userSettings(start.compute.pgSettings),
    ...Object.entries(start.inFile ?? {}),
  ]);
  const text = configurationFile(start.compute.maxCu, settings);
  writePrivateFile(path.join(start.dataDir, 'postgresql.conf'), text);
  // Postgres logs it each time if a file that the configuration includes is missing.
  const included = path.join(start.dataDir, '..', REPLICAS_FILE);
  if (!existsSync(included)) writePrivateFile(included, '');
  return startServer(deps, {
    ...start,
    args: (address) => [
      ...fixedArguments(start.compute, address, start.onCommandLine),
      ...certificateArguments(deps.certificate),
    ],
  });
}

interface StartOptions extends Pick<LaunchOptions, 'dataDir' | 'name' | 'onLine'> {
  readonly args: (address: ServerAddress) => readonly string[];
}

/** Starts a server with the files that its data directory has. @throws {EngineError} with Postgres's reason */
async function startServer(deps: ServerDependencies, start: StartOptions): Promise<Postmaster> {
  let isRepeated = false;
  const oldLabel = path.join(start.dataDir, 'backup_label.old');
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      const address = await addressOf(deps.storage, start.name);
      const { dataDir, onLine } = start;
      const args = [...start.args(address), ...(deps.isTemporary ? settingArguments({ fsync: 'off' }) : [])];
      return await Postmaster.start({ ...deps, dataDir, address, args, onLine });
    } catch (error) {
      if (!(error instanceof EngineError) || performance.now() > until) throw error;
      if (PORT_TAKEN.test(error.message)) {
        deps.storage.loopbackPorts.delete(start.name);
      } else if (LEFTOVER.test(error.message)) {
        await stopOrphan(start.dataDir);
        await sleep(LEFTOVER_PAUSE);
      } else if (NEEDS_LABEL.test(error.message) && existsSync(oldLabel) && !isRepeated) {
        isRepeated = true;
        renameSync(oldLabel, path.join(start.dataDir, 'backup_label'));
      } else throw error;
    }
  }
}

/** CU. */
const SMALLEST_SIZE = 0.25;

/**
 * Runs the service's own work on a branch with its running primary, or else with a server that runs for this work only, so
 * that it wakes no compute. Clients can't reach that server, because it listens in the private socket folder and no compute's
 * address leads to it. The caller holds the branch's lock. @throws {EngineError}
 */
export async function withBranchServer<T>(
  deps: ServerDependencies,
  branchId: string,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  deps.shutdownSignal.throwIfAborted();
  const primary = deps.branches.primary(branchId);
  if (primary !== undefined) return work(primary);
  const server = await startPrivately(deps, branchId);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

async function startPrivately(deps: ServerDependencies, branchId: string): Promise<Postmaster> {
  const dataDir = await deps.branches.ensure(branchId);
  // Recovery and prepared transactions may need as much as the last primary had.
  const settings = deps.branches.standbySettings(branchId) ?? {};
  return startServer(deps, {
    dataDir,
    name: branchId,
    onLine: () => undefined,
    args: (address) =>
      fixedArguments({ id: branchId, minCu: SMALLEST_SIZE }, address, {
        ...settings,
        ...(address.host === LOOPBACK ? {} : { listen_addresses: '' }),
      }),
  });
}

/**
 * Checks a compute's settings before they are saved: Postgres reads them without starting a server.
 * @throws {EngineError} with Postgres's message for the first invalid setting
 */
export async function checkSettings(deps: ServerDependencies, compute: ComputeSpec): Promise<void> {
  const settings = userSettings(compute.pgSettings);
  if (settings.size === 0) return;
  await deps.branches.lock(compute.branchId).exclusive(async () => {
    const dataDir = await deps.branches.ensure(compute.branchId);
    const file = path.join(deps.storage.root, `settings-${compute.id}.conf`);
    writePrivateFile(file, settingsLines(settings));
    const args = ['-D', dataDir, '-C', 'server_version', `--config-file=${file}`];
    args.push(...fixedArguments(compute, { host: LOOPBACK, port: 1 }));
    try {
      await runProgram(deps.binaries.postgres, args, { cwd: deps.storage.root });
    } finally {
      rmSync(file, { force: true });
    }
  });
}
