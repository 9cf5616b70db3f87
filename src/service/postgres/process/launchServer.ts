/** Starts servers: of a compute, and for the service's own work. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import {
  configurationFile,
  fixedArguments,
  REPLICAS_FILE,
  settingsLines,
  userSettings,
  type Settings,
} from '../config/settings.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { writePrivateFile } from '../files/files.ts';
import { addressOf, LOOPBACK } from '../config/serverAddress.ts';
import { stopOrphan } from './orphans.ts';
import { runProgram } from './runProgram.ts';
import { Postmaster } from './postmaster.ts';

interface StartOptions {
  readonly compute: Pick<ComputeSpec, 'id' | 'minCu'>;
  readonly dataDir: string;
  /** For its address: the id of its branch for a primary, of its compute for a replica. */
  readonly name: string;
  readonly onLine: (line: string) => void;
  /** Further settings of the service, on the command line, which wins over the file. */
  readonly settings?: Settings;
}

interface LaunchOptions extends StartOptions {
  readonly compute: ComputeSpec;
  /** Further settings of the service, in the file. */
  readonly inFile?: Readonly<Record<string, string>>;
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
  const { compute, dataDir, inFile = {} } = start;
  const inAll = new Map([...userSettings(compute.pgSettings), ...Object.entries(inFile)]);
  writePrivateFile(path.join(dataDir, 'postgresql.conf'), configurationFile(compute.maxCu, inAll));
  // Postgres logs it each time if a file that the configuration includes is missing.
  const included = path.join(dataDir, '..', REPLICAS_FILE);
  if (!existsSync(included)) writePrivateFile(included, '');
  const { certFile, keyFile } = deps.certificate;
  const tls = { ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile };
  return startServer(deps, { ...start, settings: { ...tls, ...start.settings } });
}

/** Starts a server with the files that its data directory has. @throws {EngineError} with Postgres's reason */
async function startServer(deps: ServerDependencies, start: StartOptions): Promise<Postmaster> {
  let isRepeated = false;
  const { compute, dataDir, onLine } = start;
  const settings = { ...start.settings, ...(deps.isTemporary && { fsync: 'off' }) };
  const oldLabel = path.join(dataDir, 'backup_label.old');
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      const address = await addressOf(deps.storage, start.name);
      const args = fixedArguments(compute, address, settings);
      return await Postmaster.start({ ...deps, dataDir, address, args, onLine });
    } catch (error) {
      if (!(error instanceof EngineError) || performance.now() > until) throw error;
      if (PORT_TAKEN.test(error.message)) {
        deps.storage.loopbackPorts.delete(start.name);
      } else if (LEFTOVER.test(error.message)) {
        await stopOrphan(dataDir);
        await sleep(LEFTOVER_PAUSE);
      } else if (NEEDS_LABEL.test(error.message) && existsSync(oldLabel) && !isRepeated) {
        isRepeated = true;
        renameSync(oldLabel, path.join(dataDir, 'backup_label'));
      } else throw error;
    }
  }
}

/** CU. */
const SMALLEST_SIZE = 0.25;

/**
 * Runs the service's own work on a branch with its running primary, or else with a server for such work only, so that it wakes
 * no compute. Clients can't reach that server, because it listens in the private socket folder and no compute's address leads
 * to it. The caller holds or shares the branch's lock. @throws {EngineError}
 */
export async function withBranchServer<T>(
  deps: ServerDependencies,
  branchId: string,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  deps.shutdownSignal.throwIfAborted();
  const primary = deps.branches.primary(branchId);
  if (primary !== undefined) return work(primary);
  const { ownServer } = deps.branches.lock(branchId);
  return ownServer.use(async () => startPrivately(deps, branchId), work);
}

async function startPrivately(deps: ServerDependencies, branchId: string): Promise<Postmaster> {
  const dataDir = await deps.branches.ensure(branchId);
  // Recovery and prepared transactions may need as much as the last primary had.
  const settings = deps.branches.standbySettings(branchId);
  const onSocketOnly = process.platform !== 'win32' && { listen_addresses: '' };
  return startServer(deps, {
    compute: { id: branchId, minCu: SMALLEST_SIZE },
    dataDir,
    name: branchId,
    onLine: () => undefined,
    settings: { ...settings, ...onSocketOnly },
  });
}

/**
 * Checks a compute's settings before they are saved: Postgres reads them without starting a server.
 * @throws {EngineError} with Postgres's message for the first invalid setting
 */
export async function checkSettings(deps: ServerDependencies, compute: ComputeSpec): Promise<void> {
  const settings = userSettings(compute.pgSettings);
  if (settings.size === 0) return;
  await deps.branches.lock(compute.branchId).shared(async () => {
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
