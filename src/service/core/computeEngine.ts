/**
 * The seam between the control plane, which decides what should be, and whatever runs behind the computes.
 * The control plane owns records, rules and operations; an engine owns processes, data and sockets and knows
 * no HTTP. Two engines exist: real Postgres, and one that runs nothing (`--no-postgres`).
 */

/** What an engine needs to know of a compute. Sizes in compute units (section 2.7). */
export interface ComputeSpec {
  readonly id: string;
  readonly projectId: string;
  readonly branchId: string;
  readonly type: 'read_write' | 'read_only';
  readonly pgVersion: number;
  readonly minCu: number;
  readonly maxCu: number;
  readonly pgSettings: Readonly<Record<string, unknown>>;
  readonly poolerEnabled: boolean;
  readonly disabled: boolean;
  readonly address: ComputeAddress;
}

/** Where a compute answers on 127.0.0.1, given at creation and kept for its whole life. */
export interface ComputeAddress {
  readonly port: number;
  readonly poolerPort: number;
}

/** A role of a branch and its password, for the connection URI. The password is a secret. */
export interface BranchLogin {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

/** What the engine tells the control plane. Calls never throw into the engine. */
export interface EngineEvents {
  /**
   * A client reached a compute that does not run. The control plane records `start_compute`, calls
   * {@link ComputeEngine.start} and resolves when the compute runs; rejects with words for the client.
   */
  wake(computeId: string): Promise<void>;
  /** Activity counts against autosuspend; `open` is the number of client connections now. */
  activity(computeId: string, open: number): void;
  /** The process behind a running compute ended by itself. */
  crashed(computeId: string, reason: string): void;
}

/** Refused for a reason the caller can put right; `message` is for people (Postgres's own where it has one). */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

/** Other errors, such as those of the file system for a full disk, as an EngineError with the same message. */
export const asEngineError = (error: unknown): EngineError =>
  error instanceof EngineError
    ? error
    : new EngineError(error instanceof Error ? error.message : String(error), { cause: error });

export interface ComputeEngine {
  /** Major version of the Postgres behind the computes; undefined where there is none. */
  readonly pgVersion: number | undefined;

  /** Whether pooled connections can be had, else the reason they cannot. */
  readonly pooler: { readonly available: true } | { readonly available: false; readonly reason: string };

  /** Takes up earlier work of this data directory (ends or adopts orphans) and wires the events. */
  open(events: EngineEvents): Promise<void>;

  /** Two free ports for a new compute. */
  allocateAddress(): Promise<ComputeAddress>;

  /**
   * Makes the compute answer at its address, running or not. Idempotent; called for every compute at service start and after creation.
   * @throws {EngineError} when the port is taken by another program.
   */
  attach(compute: ComputeSpec): Promise<void>;

  /** Starts the compute; resolves when it accepts connections. Idempotent. @throws {EngineError} */
  start(compute: ComputeSpec): Promise<void>;

  /** Ends the compute cleanly, dropping its connections. Idempotent. */
  suspend(computeId: string): Promise<void>;

  /**
   * Takes over a changed compute (size, settings, branch, pooler, disabled). A running compute is restarted only if
   * the change needs it (section 3.2). On failure the compute runs on with `before`.
   * @throws {EngineError} with Postgres's own message for a setting it refuses.
   */
  applyConfig(before: ComputeSpec, after: ComputeSpec): Promise<void>;

  /** Ends the compute and gives up its address and what only it owned; the branch's data stays. Idempotent. */
  remove(computeId: string): Promise<void>;

  /**
   * The login of a branch.
   * @returns undefined when the role or database does not exist on that branch (or nothing runs behind the computes).
   */
  login(branchId: string, role: string, database: string): Promise<BranchLogin | undefined>;

  /** Ends everything cleanly; nothing acknowledged is lost. */
  close(): Promise<void>;
}
