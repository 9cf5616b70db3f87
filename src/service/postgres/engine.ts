/** The engine that runs a real Postgres for each compute. */
import {
  asEngineError,
  EngineError,
  type ComputeEngine,
  type ComputeSpec,
  type EngineEvents,
} from '../core/computeEngine.ts';
import type { RecordedIds } from '../core/recordedIds.ts';
import { Catalogs } from './catalog/catalogs.ts';
import { ReaderRole } from './catalog/readerRole.ts';
import { ComputeServer } from './computeServer.ts';
import { asciiPath } from './server/asciiPath.ts';
import {
  canUserTrustExtension,
  listExtensionNames,
  extensionSettings,
  packagedExtensionsFolder,
} from './extensions/ownerExtensions.ts';
import {
  findMoreExtensions,
  addExtensionFolders,
  type ExtensionChoice,
} from './extensions/moreExtensions.ts';
import { chooseBinaries, type PostgresBinaries, type PostgresFolders } from './server/programs.ts';
import { changesSince } from './changes/changesSince.ts';
import { schemaChanges } from './changes/schemaChanges.ts';
import { tableTransactions } from './changes/tableTransactions.ts';
import { rehearsalMethods } from './rehearsal/rehearsals.ts';
import { removeUnusedBases, sizeOfBranch } from './history/history.ts';
import { canKeepDeleted, keepHistory } from './copies/historyUpkeep.ts';
import { readHistoryRange } from './copies/recoverTo.ts';
import { dropIdleSlots, slotsOfBranch } from './replication/slots.ts';
import type { PostgresSettings } from './server/settings.ts';
import type { AvailableExtensions } from '../../localService/leaseProof.ts';
import { endedSlotsMessage } from '../../api/rules/endedSlots.ts';
import { createBranchData, deleteBranchData, restoreBranchData } from './copies/changeBranchData.ts';
import { noteSampleBranches } from './template/sampleData.ts';
import { BranchData, type ServerDependencies } from './branchData/branchData.ts';
import { readOrCreateServicePasswords } from './roles/logins.ts';
import { readSpaceNote } from './history/historySpace.ts';
import { majorsInUse, openStorage, removeUnrecorded } from './storage/storage.ts';
import { ensureCertificate } from './server/certificate.ts';
import { chooseFreeAddress } from './server/serverAddress.ts';
import { checkSettings } from './branchData/branchServer.ts';
import { stopOrphans } from './server/orphans.ts';
import { ServerProcess } from './server/serverProcess.ts';
import { createEngineWithoutPostgres } from './withoutPostgres.ts';

export { findPrograms } from './server/programs.ts';

interface PostgresEngineOptions extends ExtensionChoice {
  /** The folder for all data. */
  readonly root: string;
  /** Whether the folder is deleted at the end. */
  readonly isTemporary?: boolean;
  readonly programs: PostgresFolders;
  /** Origins of web pages that may use the serverless driver. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Writes a line to the service's log. */
  readonly log: (line: string) => void;
}

export function createPostgresEngine(options: PostgresEngineOptions): ComputeEngine {
  const { programs, isTemporary = false } = options;
  const root = asciiPath(options.root);
  const binaries = chooseBinaries(programs, majorsInUse(root));
  const storage = openStorage(root);
  if (typeof binaries === 'string') return createEngineWithoutPostgres(binaries, storage, options.log);
  const [logins, certificate] = [readOrCreateServicePasswords(storage.root), ensureCertificate(storage.root)];
  const shutdown = new AbortController();
  const own = {
    logins,
    certificate,
    extensionSettings: createExtensionSettings(binaries, storage.root, options),
  };
  const deps = { storage, isTemporary, binaries, ...own, shutdownSignal: shutdown.signal };
  return postgresEngine({ ...deps, branches: new BranchData(deps) }, shutdown, options);
}

function createExtensionSettings(
  binaries: PostgresBinaries,
  root: string,
  options: PostgresEngineOptions,
): PostgresSettings {
  const found = findMoreExtensions(options, binaries);
  for (const { names, share, problem } of found)
    options.log(
      problem === undefined
        ? `Extensions in ${share}: ${names.join(', ')}`
        : `The extensions in ${share} are not used: ${problem}`,
    );
  const used = found.filter(({ problem }) => problem === undefined);
  const trusted = (options.trustedExtensions ?? []).filter((name) => {
    const isFound = used.some(({ names }) => names.includes(name));
    const problem = isFound
      ? 'only superusers may create it'
      : 'none of these folders has it, or Postgres has its own';
    const isTrusted = isFound && canUserTrustExtension(name);
    if (!isTrusted) options.log(`Owners can't create the extension "${name}": ${problem}`);
    return isTrusted;
  });
  const shares = used.map(({ share }) => share);
  return addExtensionFolders(extensionSettings(binaries, root, shares, trusted), used);
}

/** Returns what owners can use without more installation, for `--check-postgres`. */
export function availableExtensions(programs: PostgresFolders, choice: ExtensionChoice): AvailableExtensions {
  const binaries = chooseBinaries(programs);
  if (typeof binaries === 'string') return { included: [], found: [] };
  const folder = packagedExtensionsFolder(binaries.folder, binaries.major);
  return {
    included: folder === undefined ? [] : listExtensionNames(folder),
    found: findMoreExtensions(choice, binaries).map(({ share, names, problem }) => ({
      folder: share,
      names,
      ...(problem !== undefined && { problem }),
    })),
  };
}

/** Stops the servers that a killed service left below `root`, which no service uses. */
export async function stopAbandonedServers(root: string, programs: PostgresFolders): Promise<void> {
  const binaries = chooseBinaries(programs);
  await stopOrphans({ root }, typeof binaries === 'string' ? undefined : binaries.postgres);
}

async function removeLeftovers(
  { storage, binaries }: ServerDependencies,
  recorded: RecordedIds,
  log: (line: string) => void,
) {
  const ended = await stopOrphans(storage, binaries.postgres);
  storage.removeSockets();
  if (ended > 0) log(`Ended ${ended} processes that an earlier service left behind`);
  await removeUnrecorded(storage, recorded, log);
}

function postgresEngine(
  deps: ServerDependencies,
  shutdown: AbortController,
  { programs: { pooler }, allowedOrigins = [], log }: PostgresEngineOptions,
): ComputeEngine {
  const { storage, branches } = deps;
  const computes = new Map<string, ComputeServer>();
  const reader = new ReaderRole(deps);
  let events: EngineEvents | undefined;
  const findOrCreateCompute = (spec: ComputeSpec) => {
    if (!events) throw new EngineError('The engine is not open');
    // `close` doesn't end the server of a compute that is created after it.
    deps.shutdownSignal.throwIfAborted();
    const compute =
      computes.get(spec.id) ?? new ComputeServer(spec, { ...deps, events, log, pooler, allowedOrigins });
    computes.set(spec.id, compute);
    return compute;
  };
  return {
    pgVersion: deps.binaries.major,
    postgresProblem: undefined,
    pooledSessions: pooler === undefined ? 'separate' : 'shared',
    async open(engineEvents, recorded) {
      events = engineEvents;
      await removeLeftovers(deps, recorded, log);
    },
    // The servers of suspended computes keep their ports.
    allocateAddress: async () => chooseFreeAddress(new Set(storage.loopbackPorts.values())),
    attach: async (spec) => findOrCreateCompute(spec).attach(spec),
    start: async (spec) => findOrCreateCompute(spec).start(spec),
    activity: async (computeId) => (await computes.get(computeId)?.activity()) ?? { pooled_clients: 0 },
    serverLog: async (computeId) => computes.get(computeId)?.log.lines ?? [],
    suspend: async (computeId) => computes.get(computeId)?.suspend(),
    async applyConfig(spec) {
      await checkSettings(deps, spec);
      await findOrCreateCompute(spec).applyConfig(spec);
    },
    async remove(computeId) {
      await computes.get(computeId)?.close();
      computes.delete(computeId);
      storage.removeCompute(computeId);
    },
    async startForReader(branchId, primaryId) {
      const wake = async () => events?.wake(primaryId);
      if (branches.primary(branchId)?.isStopping !== false) await wake();
      return reader.password(branchId, wake).catch(rethrowAsEngineError);
    },
    ...rehearsalMethods(deps, async (computeId) => events?.wake(computeId)),
    size: async (branchId) => sizeOfBranch(storage, branchId),
    ...branchMethods(deps, log),
    async close() {
      shutdown.abort(new EngineError('The service is stopping'));
      await Promise.all([...computes.values()].map(async (compute) => compute.close()));
      computes.clear();
      await branches.waitUntilIdle();
      storage.removeSockets();
    },
    quitServers: () => ServerProcess.quitAll(),
  };
}

const rethrowAsEngineError = (error: unknown): never => {
  throw asEngineError(error);
};

function branchMethods(deps: ServerDependencies, log: (line: string) => void) {
  const catalogs = new Catalogs(deps);
  let historyProblems: ReadonlySet<string> = new Set();
  const reportedSlots = new Map<string, readonly string[]>();
  return {
    createBranch: async (branch) => createBranchData(deps, branch),
    async restoreBranch(restore) {
      const ended = endedSlotsMessage(slotsOfBranch(deps, restore.id));
      await restoreBranchData({ ...deps, log }, restore);
      if (ended !== undefined) log(`${restore.id}: ${ended}`);
    },
    history: async (branchId, timestamp) =>
      readHistoryRange(deps, branchId, timestamp).catch(rethrowAsEngineError),
    spaceProblem: async (branchId) => readSpaceNote(deps.storage, branchId),
    changesSince: async (...args) => changesSince(deps, ...args).catch(rethrowAsEngineError),
    tableTransactions: async (...args) => tableTransactions(deps, ...args).catch(rethrowAsEngineError),
    schemaChanges: async (...args) => schemaChanges(deps, ...args).catch(rethrowAsEngineError),
    async keepHistory(checked, options) {
      const problems = new Set((await keepHistory({ ...deps, log }, checked, options)).map(String));
      if (deps.shutdownSignal.aborted) return;
      // The same problem is logged only once, because the check is frequent and a damaged file stays damaged.
      for (const problem of problems.difference(historyProblems))
        log(`Couldn't keep the history of branches: ${problem}`);
      // A check of some branches finds only their problems, so those of others may still be there.
      historyProblems = options.isAll ? problems : problems.union(historyProblems);
    },
    replicationSlots: async (branchId) => slotsOfBranch(deps, branchId),
    async dropIdleSlots(branchIds, seconds) {
      for (const id of branchIds)
        await dropIdleSlots({ ...deps, log }, id, seconds, reportedSlots).catch((error: unknown) => {
          if (!deps.shutdownSignal.aborted)
            log(`Couldn't check the replication slots of ${id}: ${String(error)}`);
        });
    },
    canKeepDeleted: async (branchIds) =>
      canKeepDeleted(deps, branchIds).catch((error: unknown) => {
        if (!deps.shutdownSignal.aborted) log(`Couldn't measure deleted data: ${String(error)}`);
        return true;
      }),
    async deleteBranch(branchId) {
      await deleteBranchData(deps, branchId);
      catalogs.forget(branchId);
      await removeUnusedBases(deps.storage).catch((error: unknown) =>
        log(`Couldn't remove the history of ${branchId}, which was deleted: ${String(error)}`),
      );
    },
    setSampleData: (data) => noteSampleBranches(deps.storage.root, data),
    prepareBranch: async ({ id, owner }) =>
      deps.branches.predictCatalog(id, owner).catch(rethrowAsEngineError),
    catalog: async (branchId, passwordOf) => catalogs.read(branchId, passwordOf).catch(rethrowAsEngineError),
    schema: async (...args) => catalogs.schema(...args).catch(rethrowAsEngineError),
    changeCatalog: async (branchId, change) => catalogs.change(branchId, change).catch(rethrowAsEngineError),
  } satisfies Partial<ComputeEngine>;
}
