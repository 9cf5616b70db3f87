/** Starts servers: of a compute, and for the service's own work. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asEngineError, EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import {
  configurationFile,
  serviceSettings,
  settingArguments,
  INTERNAL_SERVER_CU,
  KEPT_WAL_FILE,
  LOGICAL_REPLICATION_SETTINGS,
  type PostgresSettings,
} from './settings.ts';
import { changeableSettings } from './changeableSettings.ts';
import type { Certificate } from './certificate.ts';
import type { PostgresBinaries } from './programs.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { writePrivateFile } from '../storage/privateFiles.ts';
import { hasSlots } from '../wal/walFiles.ts';
import { allocateServerAddress } from './serverAddress.ts';
import type { EngineStorage } from '../storage/storage.ts';
import { stopOrphanServer } from './orphans.ts';
import { DataInUseError, Postmaster } from './postmaster.ts';

interface LaunchDependencies {
  readonly storage: EngineStorage;
  readonly binaries: PostgresBinaries;
  readonly certificate: Certificate;
  /** Whether all data is deleted at the end, so that nothing needs to survive a power failure. */
  readonly isTemporary: boolean;
  /** The settings that all servers have for extensions. See `extensions/ownerExtensions.ts`. */
  readonly extensionSettings: PostgresSettings;
}

interface StartOptions {
  readonly compute: Pick<ComputeSpec, 'id' | 'minCu'>;
  readonly dataDir: string;
  /** The id in the server's address: the branch's id for a primary, and the compute's id for a replica. */
  readonly name: string;
  readonly onLine: (line: string) => void;
  /** Further settings of the service, on the command line, which wins over the file. */
  readonly settings?: PostgresSettings;
}

interface LaunchOptions extends StartOptions {
  readonly compute: ComputeSpec;
  /** Further settings of the service, in the file. */
  readonly inFile?: Readonly<Record<string, string>>;
}

/** The milliseconds for which a start is tried again, because processes of a killed server may still use its shared memory. */
const LEFTOVER_LIMIT = 10_000;
const LEFTOVER_PAUSE = 100;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;
/**
 * Matches what Postgres says if the first recovery of a copy was killed. The next one needs the backup label again, which Postgres
 * has renamed.
 */
const NEEDS_LABEL = /WAL ends before end of online backup/;
/** Matches what Postgres says if another program has taken the server's port. */
const PORT_TAKEN = /could not (create any TCP\/IP sockets|bind IPv4 address)/;

/** @throws {EngineError} with Postgres's reason */
export async function launchServer(deps: LaunchDependencies, start: LaunchOptions): Promise<Postmaster> {
  const { compute, dataDir, inFile = {} } = start;
  const inAll = new Map([...(await changeableSettings(deps, compute)), ...Object.entries(inFile)]);
  writePrivateFile(path.join(dataDir, 'postgresql.conf'), configurationFile(compute.maxCu, inAll));
  // Postgres logs it each time if a file that the configuration includes is missing.
  const included = path.join(dataDir, '..', KEPT_WAL_FILE);
  if (!existsSync(included)) writePrivateFile(included, '');
  const { certFile, keyFile } = deps.certificate;
  const tls = { ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile };
  const replication = compute.logicalReplication === true && LOGICAL_REPLICATION_SETTINGS;
  return startPostmaster(deps, { ...start, settings: { ...tls, ...replication, ...start.settings } });
}

interface InternalStart {
  /** What the server's messages and processes are named after. */
  readonly id: string;
  readonly dataDir: string;
  /** The id in the server's address. */
  readonly name: string;
  readonly settings: PostgresSettings;
}

/**
 * Starts a server for the service's own work, with the files that its data directory has. It waits for no standby, even on the
 * data of a rehearsed branch, and its subscriptions receive nothing. Except on Windows, it has only its private socket.
 * @throws {EngineError} with Postgres's reason
 */
export const startInternalServer = async (
  deps: LaunchDependencies,
  { id, settings, ...start }: InternalStart,
): Promise<Postmaster> =>
  startPostmaster(deps, {
    ...start,
    compute: { id, minCu: INTERNAL_SERVER_CU },
    onLine: () => undefined,
    settings: { ...settings, ...OWN_WORK },
  });

const OWN_WORK: PostgresSettings = {
  synchronous_standby_names: '',
  max_logical_replication_workers: 0,
  ...(process.platform !== 'win32' && { listen_addresses: '' }),
};

/**
 * Does work with an internal server, which runs no longer than that. Its address is forgotten at the end, also if it doesn't start.
 * @param describe returns the message if it doesn't start, from Postgres's reason
 * @throws {EngineError} if it doesn't start
 */
export async function withInternalServer<T>(
  deps: LaunchDependencies,
  start: InternalStart,
  work: (server: Postmaster) => Promise<T>,
  describe?: (reason: string) => string,
): Promise<T> {
  try {
    const server = await startInternalServer(deps, start).catch((error: unknown) => {
      throw describe === undefined ? error : new EngineError(describe(asEngineError(error).message));
    });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  } finally {
    deps.storage.removeAddress(start.name);
  }
}

async function startPostmaster(deps: LaunchDependencies, start: StartOptions): Promise<Postmaster> {
  let hasLabelAgain = false;
  const { compute, dataDir, onLine } = start;
  const fsync = deps.isTemporary && { fsync: 'off' };
  const replication = hasSlots(dataDir) && LOGICAL_REPLICATION_SETTINGS;
  const settings = { ...deps.extensionSettings, ...replication, ...start.settings, ...fsync };
  const oldLabel = path.join(dataDir, 'backup_label.old');
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      const address = await allocateServerAddress(deps.storage, start.name);
      const args = settingArguments(serviceSettings(compute, address, settings));
      return await Postmaster.start({ ...deps, dataDir, address, args, onLine });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (NEEDS_LABEL.test(error.message) && existsSync(oldLabel) && !hasLabelAgain) {
        hasLabelAgain = true;
        renameOverSync(oldLabel, path.join(dataDir, 'backup_label'));
      } else if (performance.now() > until) {
        throw error;
      } else if (PORT_TAKEN.test(error.message)) {
        deps.storage.loopbackPorts.delete(start.name);
      } else if (error instanceof DataInUseError || LEFTOVER.test(error.message)) {
        await stopOrphanServer(dataDir, deps.binaries.postgres);
        await sleep(LEFTOVER_PAUSE);
      } else throw error;
    }
  }
}
