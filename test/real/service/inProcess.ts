/** The service in the process of the test, with a clock and engine faults that the test controls. */
import assert from 'node:assert/strict';
import type { BaseUrl } from '../../../src/api/transport/baseUrl.ts';
import { Client } from '../../../src/api/client.ts';
import type { Compute, Operation } from '../../../src/api/records/records.ts';
import {
  EngineError,
  ONLY_ROLE,
  type ComputeEngine,
  type EngineEvents,
} from '../../../src/service/core/computeEngine.ts';
import type { RecordedIds } from '../../../src/service/core/recordedIds.ts';
import { createSimulatedEngine } from '../../../src/service/postgres/withoutPostgres.ts';
import { readProjectsFile } from '../../../src/service/state/projectsFile.ts';
import { startService, type ServiceHandle } from '../../../src/service/startService.ts';
import { recordPort } from '../../contract/recordings.ts';
import { atEndOfTest } from '../../helpers/atEndOfTest.ts';
import { call } from '../../helpers/call.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { PROJECT } from './controlPlane/sampleProject.ts';

/** The default start time. */
export const START_TIME = Date.parse('2026-01-01T00:00:00Z');

/** Has no processes, records its calls, and fails on demand. */
export class FaultyEngine implements ComputeEngine {
  readonly #plain = createSimulatedEngine();
  readonly calls: string[] = [];
  /** Errors that the next call of each name throws. */
  readonly faults = new Map<string, Error>();
  pgVersion: number | undefined = 17;
  postgresProblem: string | undefined;
  pooledSessions: ComputeEngine['pooledSessions'] = 'shared';
  events: EngineEvents | undefined;
  branchSize: number | undefined;
  historySize = 0;

  /** What the account has had at the last start. */
  recorded: RecordedIds | undefined;

  open = (events: EngineEvents, recorded: RecordedIds) => {
    this.events = events;
    this.recorded = recorded;
    return this.#do('open');
  };
  allocateAddress = () => this.#plain.allocateAddress();
  attach: ComputeEngine['attach'] = ({ id }) => this.#do('attach', id);
  start: ComputeEngine['start'] = ({ id }) => this.#do('start', id);
  activity: ComputeEngine['activity'] = (id) => this.#plain.activity(id);
  serverLog: ComputeEngine['serverLog'] = (id) => this.#plain.serverLog(id);
  suspend: ComputeEngine['suspend'] = (id) => this.#do('suspend', id);
  applyConfig: ComputeEngine['applyConfig'] = ({ id }) => this.#do('applyConfig', id);
  remove: ComputeEngine['remove'] = (id) => this.#do('remove', id);
  catalog: ComputeEngine['catalog'] = async (_branch, passwordOf) => ({
    databases: [{ id: 16_384, name: 'my/db', owner: 'owner' }],
    roles: [{ name: 'owner', canLogin: true }],
    ...(passwordOf === 'owner' || passwordOf === ONLY_ROLE ? { password: 'p/w:d@' } : {}),
  });
  startForReader: ComputeEngine['startForReader'] = async (branchId) => `reads ${branchId}`;
  startRehearsal: ComputeEngine['startRehearsal'] = async (id) => this.#plain.startRehearsal(id, '');
  rehearsal: ComputeEngine['rehearsal'] = async (id) => this.#plain.rehearsal(id);
  isUnchangedSince: ComputeEngine['isUnchangedSince'] = async (...args) =>
    this.#plain.isUnchangedSince(...args);
  size: ComputeEngine['size'] = async () =>
    this.branchSize === undefined ? undefined : { databases: this.branchSize, history: this.historySize };
  schema: ComputeEngine['schema'] = (...args) => this.#plain.schema(...args);
  changeCatalog: ComputeEngine['changeCatalog'] = async (branch) => {
    await this.#do('changeCatalog', branch);
    return this.catalog(branch);
  };
  history: ComputeEngine['history'] = (...args) => this.#plain.history(...args);
  spaceProblem: ComputeEngine['spaceProblem'] = (branchId) => this.#plain.spaceProblem(branchId);
  changesSince: ComputeEngine['changesSince'] = (...args) => this.#plain.changesSince(...args);
  tableTransactions: ComputeEngine['tableTransactions'] = (...args) => this.#plain.tableTransactions(...args);
  schemaChanges: ComputeEngine['schemaChanges'] = (...args) => this.#plain.schemaChanges(...args);
  keepHistory: ComputeEngine['keepHistory'] = (...args) => this.#plain.keepHistory(...args);
  slots: readonly string[] = [];
  replicationSlots: ComputeEngine['replicationSlots'] = async () => this.slots;
  dropIdleSlots: ComputeEngine['dropIdleSlots'] = (...args) => this.#plain.dropIdleSlots(...args);
  /** The most deleted branches that can be kept. */
  canKeepUntil = Infinity;
  canKeepDeleted: ComputeEngine['canKeepDeleted'] = async (ids) => ids.length <= this.canKeepUntil;
  createBranch: ComputeEngine['createBranch'] = async ({ id, parentId }) => {
    await this.#do('createBranch', parentId === undefined ? id : `${id} of ${parentId}`);
    return undefined;
  };
  restoreBranch: ComputeEngine['restoreBranch'] = ({ id, sourceId }) =>
    this.#do('restoreBranch', `${id} from ${sourceId}`);
  deleteBranch: ComputeEngine['deleteBranch'] = (id) => this.#do('deleteBranch', id);
  setSampleData = () => undefined;
  prepareBranch: ComputeEngine['prepareBranch'] = ({ id }) => this.catalog(id, 'owner');
  close = () => this.#do('close');
  quitServers = () => undefined;

  fail(call: string, message: string): void {
    this.faults.set(call, new EngineError(message));
  }

  async #do(call: string, id = ''): Promise<void> {
    this.calls.push(`${call} ${id}`.trim());
    const fault = this.faults.get(call);
    this.faults.delete(call);
    if (fault !== undefined) throw fault;
  }
}

export interface InProcess {
  readonly service: ServiceHandle;
  readonly baseUrl: BaseUrl;
  readonly client: Client;
  readonly engine: FaultyEngine;
  readonly clock: FakeClock;
  readonly key: string;
  readonly folder: string;
  readonly log: readonly string[];
  /** Ends the service, which the end of the test does, too. Its folder is temporary. */
  stop(): Promise<void>;
}

export interface InProcessOptions {
  readonly folder?: string;
  readonly engine?: FaultyEngine;
  readonly operationDelay?: number;
  /** False for `--no-postgres`. */
  readonly postgres?: boolean;
  readonly endWithLeases?: number;
  readonly projectsFile?: string;
  readonly clock?: FakeClock;
  readonly onEnd?: (failure: string | undefined) => void;
}

export async function startInProcess(options: InProcessOptions = {}): Promise<InProcess> {
  const { engine = new FaultyEngine(), operationDelay = 0, endWithLeases, onEnd = () => undefined } = options;
  const { postgres = true } = options;
  const clock = options.clock ?? new FakeClock(START_TIME);
  const folder = options.folder ?? temporaryFolder();
  const key = 'the-key-of-the-test';
  const log: string[] = [];
  const settings = {
    port: 0,
    apiKey: key,
    plan: 'paid',
    operationDelay,
    postgres,
    endWithLeases,
  } as const;
  const projects = options.projectsFile === undefined ? undefined : readProjectsFile(options.projectsFile);
  const parts = { options: settings, folder, projects, clock, onEnd, log: (line: string) => log.push(line) };
  const service = await startService({
    ...parts,
    engine: Promise.resolve(engine),
    requireLock: () => undefined,
  });
  const baseUrl = service.baseUrl as BaseUrl;
  recordPort(Number(new URL(baseUrl).port));
  let stopping: Promise<void> | undefined;
  const stop = async () => (stopping ??= service.close());
  atEndOfTest(stop);
  return {
    service,
    baseUrl,
    client: new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 }),
    engine,
    clock,
    key,
    folder,
    log,
    stop,
  };
}

/** Waits until no operation of a project runs, and lets the time of their minimum duration pass. */
export async function endOperations(
  { client, clock }: InProcess,
  projectId: string,
  delay = 0,
): Promise<void> {
  await until('all operations have ended', async () => {
    clock.advance(delay);
    const list = await client.listOperations(projectId, 100);
    return list?.operations.every(({ status }) => !['scheduling', 'running'].includes(status));
  });
}

/** Starts a service before each test of the surrounding `describe` and stops it after it. Returns a getter. */
export function useInProcess(options: InProcessOptions = {}): () => InProcess {
  let test: InProcess;
  beforeEach(async () => {
    test = await startInProcess(options);
  });
  return () => test;
}

export const operationsOf = async (test: InProcess): Promise<Operation[]> => {
  const { json } = await call(test.baseUrl, {
    path: `/projects/${PROJECT}/operations`,
    key: test.key,
  });
  return (json as { operations: Operation[] }).operations;
};
export const computeOf = async (test: InProcess, id: string): Promise<Compute> => {
  const { items } = await test.client.listComputes(PROJECT);
  const compute = items.find((each) => each.id === id);
  assert(compute);
  return compute;
};
export const settled = (test: InProcess, id: string, state: string) =>
  until(`${id} ${state}`, async () => {
    const { current_state, pending_state } = await computeOf(test, id);
    return current_state === state && pending_state === undefined;
  });
export const events = (test: InProcess) => {
  assert(test.engine.events);
  return test.engine.events;
};
