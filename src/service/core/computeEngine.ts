/**
 * The interface between the control plane, which owns records, rules and operations, and an engine, which owns processes,
 * data and sockets. There are three engines: real Postgres, one for a machine without a usable Postgres, on which no compute
 * can start, and one that simulates computes for tests of the API (`--no-postgres`).
 */
import type { PgSettings } from '../../api/records/records.ts';
import type {
  HistoryRange,
  BranchRetention,
  BranchSize,
  HistoryLimits,
  Moment,
  SchemaChange,
  TableTransaction,
  PastMoment,
  TableChange,
  TableFile,
} from './branchHistory.ts';
import type { RecordedIds } from './recordedIds.ts';
import type { Rehearsals } from './rehearsals.ts';
import type { ReplicationSlots } from './replicationSlots.ts';

/** What an engine needs to know about a compute. Sizes are in compute units. */
export interface ComputeSpec {
  readonly id: string;
  readonly branchId: string;
  readonly type: 'read_write' | 'read_only';
  readonly minCu: number;
  readonly maxCu: number;
  readonly pgSettings: Readonly<PgSettings>;
  readonly poolerEnabled: boolean;
  readonly disabled: boolean;
  readonly address: ComputeAddress;
  /** Whether clients may use logical replication, which can't be turned off again. */
  readonly logicalReplication?: boolean | undefined;
}

/** The ports of a compute on 127.0.0.1; they never change. */
export interface ComputeAddress {
  readonly port: number;
  readonly poolerPort: number;
}

/** Whether pooled clients share server sessions (PgBouncer), or each has its own, up to `max_connections`. */
export type PooledSessions = 'shared' | 'separate';

/** Timestamps are ISO 8601 UTC, and missing if neither Postgres nor the engine knows them. */
export interface BranchDatabase {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly createdAt?: string;
}

export interface BranchRole {
  readonly name: string;
  readonly canLogin: boolean;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** What clients do on a compute, which may keep it active. */
export interface ComputeActivity {
  /** The sessions as {@link SESSIONS_QUERY} returns them, without those of the service. Undefined if no server runs. */
  readonly sessions?: readonly object[] | undefined;
  /** Clients of PgBouncer. Its own sessions are among the others. */
  readonly pooled_clients: number;
}

/** The databases and roles of a branch, without those of the service. */
export interface BranchCatalog {
  readonly databases: readonly BranchDatabase[];
  readonly roles: readonly BranchRole[];
  /** The password of the role that the caller asked for, if the engine knows it. A secret. */
  readonly password?: string;
}

export type SchemaFormat = 'sql' | 'json';

/**
 * The schema of a database, as pg_dump writes it or as its tables. It has neither if the database did not exist at the past
 * moment asked for.
 */
export interface BranchSchema {
  readonly sql?: string;
  readonly json?: { readonly tables: readonly SchemaTable[] };
}

/** A table with its columns and constraints, in the public service's format. */
export interface SchemaTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly object[];
  readonly constraints: readonly object[];
}

/** A change of databases or roles. Names are free of control characters and have 1 to 63 bytes. */
export type CatalogCommand =
  | { readonly kind: 'createDatabase'; readonly name: string; readonly owner: string }
  | {
      readonly kind: 'updateDatabase';
      readonly name: string;
      readonly newName: string;
      readonly owner: string;
    }
  | { readonly kind: 'createRole'; readonly name: string; readonly canLogin: boolean }
  | { readonly kind: 'deleteDatabase' | 'deleteRole' | 'resetPassword'; readonly name: string };

/** The first database of a project and the role that owns it. */
export interface BranchOwner {
  readonly role: string;
  readonly database: string;
}

/** A new branch: with a copy of its parent's data or only of the schema, or with new data and this owner. */
export interface BranchSpec {
  readonly id: string;
  readonly parentId?: string | undefined;
  /** A moment in the parent's history. If undefined, its current data is copied. */
  readonly moment?: Moment | undefined;
  readonly isSchemaOnly?: boolean | undefined;
  readonly keepsHistory?: boolean | undefined;
  /** Another branch whose roles' passwords this branch gets, so that connection strings of the other one are valid here. */
  readonly passwordsOf?: string | undefined;
  readonly owner?: BranchOwner | undefined;
}

/** Replaces the data of `id` with that of `sourceId`. `preservedId`, if given, receives the old data. */
export interface BranchRestore {
  readonly id: string;
  readonly sourceId: string;
  /** A moment in the source's history. If undefined, its current data is copied. */
  readonly moment?: Moment | undefined;
  readonly preservedId?: string | undefined;
}

/** Which tables and rows of the sample a branch begins with. */
export type SampleData = 'beforeMigration' | 'main' | 'checkoutRewrite';
/** The data of the sample's branches by their ids. */
export type SampleBranches = Readonly<Record<string, SampleData>>;

/** What the engine reports to the control plane. The calls do not throw synchronously. */
export interface EngineEvents {
  /**
   * A client connected to a compute that is not running. The control plane records `start_compute`, calls
   * {@link ComputeEngine.start} and resolves when the compute runs. Rejects with a message for the client.
   */
  wake(computeId: string): Promise<void>;
  /** The number of client connections changed; autosuspend uses it. */
  activity(computeId: string, open: number): void;
  /** The process of a running compute ended by itself. */
  crashed(computeId: string, reason: string): void;
}

/** A failure that the client can resolve. `message` is for users and comes from Postgres if it has one. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

/** Wraps any other error, such as that of the file system for a full disk, in an EngineError with the same message. */
export const asEngineError = (error: unknown): EngineError =>
  error instanceof EngineError
    ? error
    : new EngineError(error instanceof Error ? error.message : String(error), { cause: error });

export interface ComputeEngine extends Rehearsals, ReplicationSlots {
  /** The major version of Postgres; undefined without Postgres. */
  readonly pgVersion: number | undefined;
  /** Why no compute can start, and what to do, for users. Undefined if computes can start. */
  readonly postgresProblem: string | undefined;

  readonly pooledSessions: PooledSessions;
  /** Ends processes that an earlier run left, removes files that no record names, and sets the receiver of events. */
  open(events: EngineEvents, recorded: RecordedIds): Promise<void>;

  /** Returns free ports. Those of a compute that does not listen may be among them, so the caller checks. */
  allocateAddress(): Promise<ComputeAddress>;

  /**
   * Opens the address of the compute, whether it runs or not. Idempotent; called at service start and after creation.
   * @throws {EngineError} if another program uses the port
   */
  attach(compute: ComputeSpec): Promise<void>;

  /** Starts the compute; resolves when it accepts connections. Idempotent. @throws {EngineError} */
  start(compute: ComputeSpec): Promise<void>;

  /** Returns what clients do. Neither starts the compute nor counts as activity. @throws {EngineError} */
  activity(computeId: string): Promise<ComputeActivity>;

  /** Returns the last lines that the servers of the compute have logged since the service started, with their times. */
  serverLog(computeId: string): Promise<readonly string[]>;

  /** Stops the compute cleanly and drops its connections. Idempotent. */
  suspend(computeId: string): Promise<void>;

  /**
   * Applies a change (size, settings, branch, pooler, disabled). Restarts a running compute only if the change requires it.
   * After a failure the compute continues as it was.
   * @throws {EngineError} with the message of Postgres for an invalid setting
   */
  applyConfig(compute: ComputeSpec): Promise<void>;

  /** Stops the compute and releases its address and its own data; the data of the branch stays. Idempotent. */
  remove(computeId: string): Promise<void>;

  /**
   * Creates the data of a branch, unless it exists. Idempotent. @throws {EngineError} and leaves nothing behind
   * @returns the position (LSN) in the parent's log up to which this call has copied its current data
   */
  createBranch(branch: BranchSpec): Promise<string | undefined>;

  /** Replaces the data of a branch without running computes. Idempotent. @throws {EngineError} and leaves the branch as it was */
  restoreBranch(restore: BranchRestore): Promise<void>;

  /** Reads the range of the history, if there is one. Starts no compute. @throws {EngineError} also for a time that occurred twice */
  history(branchId: string, timestamp?: string): Promise<HistoryRange | undefined>;

  /** Returns a sentence for users, if a full disk is why the history of a branch begins late or is missing. Does not throw. */
  spaceProblem(branchId: string): Promise<string | undefined>;

  /**
   * Returns what has changed in the branch since each moment, as far as it is known: only with an active primary, and for moments
   * after which not too much was written. Starts no compute. @throws {EngineError}
   */
  changesSince(
    branchId: string,
    moments: readonly PastMoment[],
  ): Promise<readonly (readonly TableChange[] | undefined)[]>;

  /**
   * Returns the transactions that have changed rows of a table since it got this file, oldest first; undefined if
   * unknown.
   * @throws {EngineError}
   */
  tableTransactions(branchId: string, table: TableFile): Promise<readonly TableTransaction[] | undefined>;
  /** Returns when the schema was changed, oldest first; empty if unknown. Starts no compute. @throws {EngineError} */
  schemaChanges(branchId: string): Promise<readonly SchemaChange[]>;

  /**
   * Makes and removes what the history of these branches needs. Call this only when the last call has ended. Does not throw.
   * `isAll`: they are all branches, so the limit of all is checked. `canExpire`: the clock is right, so the past may expire.
   */
  keepHistory(
    branches: readonly BranchRetention[],
    options: { readonly isAll: boolean; readonly canExpire?: boolean; readonly limits?: HistoryLimits },
  ): Promise<void>;

  /** Whether the data of these branches of deleted projects is small enough to stay, and the disk isn't almost full. Does not throw. */
  canKeepDeleted(branchIds: readonly string[]): Promise<boolean>;

  /** Removes the data of a branch without computes. Idempotent. */
  deleteBranch(branchId: string): Promise<void>;

  /** Sets what branches of a new account begin with. Their data is created when it is first needed, as always. */
  setSampleData(branches: SampleBranches): void;

  /**
   * Sets the owner of a new branch without a parent.
   * @returns the catalog that the branch will have, with the owner's password. @throws {EngineError}
   */
  prepareBranch(branch: Omit<BranchSpec, 'parentId'>): Promise<BranchCatalog>;

  /**
   * Reads the databases and roles of a branch from Postgres. If the branch has no data yet, returns those that it will have.
   * Starts no compute.
   * @param passwordOf the role whose password the catalog contains; `ONLY_ROLE`: if there is exactly one role, that one
   * @throws {EngineError}
   */
  catalog(branchId: string, passwordOf?: string | typeof ONLY_ROLE): Promise<BranchCatalog>;

  /**
   * Starts the branch's primary compute, so that the caller can connect as {@link READER}.
   * @returns the password of that role, which is valid until the service ends @throws {EngineError}
   */
  startForReader(branchId: string, primaryId: string): Promise<string>;

  /** Returns what the branch has on the disk; undefined without Postgres. Asks no server. @throws {Error} without data */
  size(branchId: string): Promise<BranchSize | undefined>;

  /** Reads the schema. Starts no compute. @throws {EngineError} */
  schema(branchId: string, database: string, format: SchemaFormat, moment?: Moment): Promise<BranchSchema>;

  /**
   * Changes the databases or roles of a branch completely or not at all, even if the service is killed. Starts no compute.
   * Deleting what no longer exists does nothing.
   * @returns the catalog after the change, with the password of a role that has a new one
   * @throws {EngineError} with the message of Postgres
   */
  changeCatalog(branchId: string, change: CatalogCommand): Promise<BranchCatalog>;

  /** Stops all computes cleanly. */
  close(): Promise<void>;

  /** Ends all servers without letting them write their data, which another service uses now. */
  quitServers(): void;
}

/** See {@link ComputeEngine.catalog}. */
export const ONLY_ROLE = Symbol('the only role');
