/** The engines without Postgres: one that simulates computes, and one on which no compute can start. */
import { EngineError, type ComputeEngine } from '../core/computeEngine.ts';
import { removeFileOrFolder } from './storage/privateFiles.ts';
import { removeUnrecorded, type EngineStorage } from './storage/storage.ts';
import { noteSampleBranches } from './template/sampleData.ts';
import { chooseFreeAddress } from './server/serverAddress.ts';
import { stopOrphans } from './server/orphans.ts';

const FIRST_PORT = 2_000;
const LAST_PORT = 65_534;

/** The most branches of deleted projects that are kept. They have no data, but records and ports. */
const MAX_DELETED = 1000;

const SIMULATED = 'The service simulates computes (--no-postgres): there are no databases and roles.';

const doNothing = async (): Promise<undefined> => undefined;
const failWith = (message: string) => async (): Promise<never> => {
  throw new EngineError(message);
};

/** Creates the engine of `--no-postgres`: computes change their state, but no server runs. */
export function createSimulatedEngine(): ComputeEngine {
  let nextPort = 15_432;
  return {
    pgVersion: undefined,
    postgresProblem: undefined,
    pooledSessions: 'shared',
    open: doNothing,
    async allocateAddress() {
      const port = nextPort;
      nextPort = port + 2 > LAST_PORT ? FIRST_PORT : port + 2;
      return { port, poolerPort: port + 1 };
    },
    attach: doNothing,
    start: doNothing,
    activity: async () => ({ pooled_clients: 0 }),
    serverLog: async () => [],
    suspend: doNothing,
    applyConfig: doNothing,
    remove: doNothing,
    createBranch: doNothing,
    restoreBranch: doNothing,
    history: doNothing,
    spaceProblem: doNothing,
    changesSince: async (_, moments) => moments.map(() => undefined),
    tableTransactions: doNothing,
    schemaChanges: async () => [],
    keepHistory: doNothing,
    replicationSlots: async () => [],
    dropIdleSlots: doNothing,
    canKeepDeleted: async (branchIds) => branchIds.length <= MAX_DELETED,
    deleteBranch: doNothing,
    setSampleData: () => undefined,
    prepareBranch: async () => ({ databases: [], roles: [] }),
    size: doNothing,
    catalog: failWith(SIMULATED),
    startForReader: failWith(SIMULATED),
    startRehearsal: failWith(SIMULATED),
    rehearsal: failWith(SIMULATED),
    isUnchangedSince: async () => false,
    schema: failWith(SIMULATED),
    changeCatalog: failWith(SIMULATED),
    close: doNothing,
    quitServers: () => undefined,
  };
}

/**
 * Creates the engine for a machine without a usable Postgres. Computes exist and can be changed, but every start fails, and
 * nothing listens on their ports.
 * @param problem why, for users
 * @param storage may hold data from an earlier run with Postgres
 */
export function createEngineWithoutPostgres(
  problem: string,
  storage: EngineStorage,
  log: (line: string) => void,
): ComputeEngine {
  const fail = failWith(problem);
  return {
    ...createSimulatedEngine(),
    postgresProblem: problem,
    pooledSessions: 'separate',
    async open(_events, recorded) {
      await stopOrphans(storage);
      await removeUnrecorded(storage, recorded, log);
    },
    allocateAddress: async () => chooseFreeAddress(),
    start: fail,
    remove: async (id) => storage.removeCompute(id),
    createBranch: fail,
    restoreBranch: fail,
    async deleteBranch(id) {
      removeFileOrFolder(storage.branch(id));
      storage.forgetData(id);
    },
    // The note is written, because Postgres may be set up later.
    setSampleData: (data) => noteSampleBranches(storage.root, data),
    prepareBranch: fail,
    catalog: fail,
    startForReader: fail,
    startRehearsal: fail,
    rehearsal: fail,
    isUnchangedSince: fail,
    schema: fail,
    changeCatalog: fail,
  };
}
