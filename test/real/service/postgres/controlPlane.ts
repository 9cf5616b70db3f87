/** A minimal control plane for an engine. It wakes computes and records events. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ComputeEngine, ComputeSpec } from '../../../../src/service/core/computeEngine.ts';
import type { RecordedIds } from '../../../../src/service/core/recordedIds.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { storageOf } from '../../../helpers/branchCalls.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { prepareStorage } from '../../../helpers/preparedStorage.ts';
import { startEngine } from './startEngine.ts';

export interface ControlPlane {
  readonly engine: ComputeEngine;
  readonly dataDir: string;
  readonly log: string[];
  /** The current computes by id. */
  readonly computes: Map<string, ComputeSpec>;
  /** Ids in the order they were woken. */
  readonly woken: string[];
  readonly crashed: { readonly id: string; readonly reason: string }[];
  /** Open client connections by compute. */
  readonly open: Map<string, number>;
  /** Creates and attaches a compute without starting it. */
  create(change?: Partial<ComputeSpec>): Promise<ComputeSpec>;
  change(compute: ComputeSpec, change: Partial<ComputeSpec>): Promise<ComputeSpec>;
  /** A connection string for the branch's own login. */
  uri(compute: ComputeSpec, pooled?: boolean): Promise<string>;
  close(): Promise<void>;
}

export async function startControlPlane(
  options: {
    readonly dataDir?: string;
    readonly postgresPath?: string;
    readonly extensionsDir?: string;
    readonly trustedExtensions?: readonly string[];
    readonly withoutPgBouncer?: boolean;
    /** Whether it runs `initdb` itself. By default, a new data directory has a template already. */
    readonly createsTemplate?: boolean;
    readonly isTemporary?: boolean;
  } = {},
): Promise<ControlPlane> {
  const dataDir = options.dataDir ?? temporaryFolder();
  if (options.createsTemplate !== true && options.postgresPath === undefined) await prepareStorage(dataDir);
  let created = 0;
  const log: string[] = [];
  const computes = new Map<string, ComputeSpec>();
  const woken: string[] = [];
  const crashed: { id: string; reason: string }[] = [];
  const open = new Map<string, number>();
  /** The passwords of the branches' own role. No test changes them. */
  const passwords = new Map<string, string>();
  const engine = await startEngine({ ...options, dataDir }, (line) => log.push(line));
  const events = {
    async wake(id: string) {
      woken.push(id);
      const compute = computes.get(id);
      if (!compute) throw new Error(`no compute ${id}`);
      await engine.start(compute);
    },
    activity: (id: string, count: number) => void open.set(id, count),
    crashed: (id: string, reason: string) => void crashed.push({ id, reason }),
  };
  await engine.open(events, allIn(storageOf({ dataDir })));
  let closing: Promise<void> | undefined;
  const end = async () => {
    await engine.close();
    // On Windows, processes that have just ended may still have their folder open. It is removed when this process ends.
    if (options.dataDir === undefined && process.platform !== 'win32') rmSync(dataDir, { recursive: true });
  };
  const close = async () => (closing ??= end());
  atEndOfTest(close);
  return {
    engine,
    dataDir,
    log,
    computes,
    woken,
    crashed,
    open,
    async create(change = {}) {
      const id = change.id ?? `ep-${(created += 1)}`;
      const compute: ComputeSpec = {
        id,
        branchId: 'br-main',
        type: 'read_write',
        minCu: 0.25,
        maxCu: 0.25,
        pgSettings: {},
        poolerEnabled: false,
        disabled: false,
        address: await engine.allocateAddress(),
        ...change,
      };
      computes.set(id, compute);
      await engine.attach(compute);
      return compute;
    },
    async change(compute, change) {
      const after = { ...compute, ...change };
      await engine.applyConfig(after);
      computes.set(after.id, after);
      return after;
    },
    async uri(compute, pooled = false) {
      const known = passwords.get(compute.branchId);
      const password = known ?? (await engine.catalog(compute.branchId, 'app_owner')).password;
      if (password === undefined) throw new Error('no password');
      passwords.set(compute.branchId, password);
      const port = pooled ? compute.address.poolerPort : compute.address.port;
      return `postgresql://app_owner:${password}@127.0.0.1:${port}/app`;
    },
    close,
  };
}

/** The connection string of a branch as the superuser. */
export function superuserUri({ dataDir }: Pick<ControlPlane, 'dataDir'>, uri: string): string {
  const file = path.join(storageOf({ dataDir }), 'logins.json');
  const { superuser } = JSON.parse(readFileSync(file, 'utf8')) as { superuser: string };
  return uri.replace(/\/\/.*@/, `//postgres:${superuser}@`);
}

/** What an earlier run left is all recorded. */
function allIn(storage: string): RecordedIds {
  const names = (kind: string) => {
    const folder = path.join(storage, kind);
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  return {
    branches: names('branches'),
    formerBranches: [],
    computes: [...names('replicas'), ...names('poolers')],
  };
}
