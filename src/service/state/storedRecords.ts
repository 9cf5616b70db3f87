/**
 * What the service stores: the public records with all fields, and what only the service knows. All values
 * are immutable: a change replaces the value, so its JSON can be cached. Undefined fields are left out of the JSON.
 */
import type { Moment } from '../core/branchHistory.ts';
import type { BranchOwner, ComputeAddress, PooledSessions } from '../core/computeEngine.ts';
import type { DefaultEndpointSettings, ProjectSettings } from '../../api/records/requests.ts';
import type { PgSettings } from '../../api/records/records.ts';

/** How projects and computes were created: each by a call, because there is no console. */
export const CREATION_SOURCE = 'api';

/** The account's only user, who owns its projects and keys. It is the same in every local service. */
export const LOCAL_USER = {
  id: '00000000-0000-4000-8000-000000000001',
  login: 'local',
  name: 'Local',
  last_name: 'User',
  email: 'local.user@hosted-postgres.invalid',
  image: '',
} as const;

/** A project, with the fields that the public service requires. `branch_logical_size_limit` in MiB. */
export type ProjectRecord = {
  readonly id: string;
  readonly name: string;
  readonly platform_id: string;
  readonly region_id: string;
  readonly provisioner: string;
  readonly pg_version: number;
  readonly cpu_used_sec: number;
  readonly locked: boolean;
  readonly branch_logical_size_limit: number;
  readonly branch_logical_size_limit_bytes: number;
  /** Whether `connection_uri` returns passwords. */
  readonly store_passwords: boolean;
  /** Seconds that the project's computes were active, added up. Has fractions, like `cpu_used_sec`. */
  readonly active_time: number;
  readonly creation_source: string;
  readonly owner_id: string;
  readonly proxy_host: string;
  readonly default_endpoint_settings?: DefaultEndpointSettings | undefined;
  /** For how long the history of branches is kept. Missing for the default. */
  readonly history_retention_seconds?: number | undefined;
  readonly settings?: ProjectSettings | undefined;
  readonly created_at: string;
  readonly updated_at: string;
};

/** A branch as the public service returns it; the specification does not define it. Times are ISO 8601, UTC. */
export type BranchRecord = {
  readonly id: string;
  readonly project_id: string;
  /** Missing for a root branch. */
  readonly parent_id?: string | undefined;
  readonly name: string;
  /** Missing for a copy of the parent's data. */
  readonly init_source?: 'schema-only' | undefined;
  readonly current_state: 'init' | 'resetting' | 'ready';
  readonly pending_state?: 'ready' | undefined;
  readonly state_changed_at: string;
  readonly creation_source: string;
  readonly default: boolean;
  readonly protected: boolean;
  readonly cpu_used_sec: number;
  readonly compute_time_seconds: number;
  readonly active_time_seconds: number;
  readonly written_data_bytes: number;
  readonly data_transfer_bytes: number;
  /** The bytes of the branch's databases when its compute was last active. Missing if it never was. */
  readonly logical_size?: number | undefined;
  /** The bytes of the branch's history when its compute was last active. Missing if it never was. */
  readonly history_size?: number | undefined;
  readonly created_at: string;
  readonly updated_at: string;
  /** When the service deletes the branch. */
  readonly expires_at?: string | undefined;
  readonly ttl_interval_seconds?: number | undefined;
  readonly last_reset_at?: string | undefined;
  /** The moment of the parent's history that the branch was created from. Missing if it isn't known, as after a reset. */
  readonly parent_lsn?: string | undefined;
  readonly parent_timestamp?: string | undefined;
  /**
   * The id of another branch. If this branch preserves the data that another branch had before a restore, it is that branch. If this
   * branch has the data of a snapshot, it is the branch that this one replaces when the restore is finalized.
   */
  readonly restored_as?: string | undefined;
  /** The snapshot with whose data the branch was created. */
  readonly restored_from?: string | undefined;
  readonly restore_status?: 'restored' | 'finalized' | undefined;
  /** Key-value pairs from the client that created the branch. */
  readonly annotation_value?: Readonly<Record<string, string>> | undefined;
};

/** A copy of a branch's data, which the engine keeps like that of a branch, under the snapshot's id. */
export type SnapshotRecord = {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly slug: string;
  /** The branch that the snapshot was made from. It may be gone. */
  readonly source_branch_id: string;
  /** The moment that was asked for. Missing for the data when the snapshot was created. */
  readonly lsn?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly created_at: string;
  readonly expires_at?: string | undefined;
  readonly manual: true;
};

/** A compute, with the fields that the public service requires. */
export type ComputeRecord = {
  readonly id: string;
  readonly name?: string | undefined;
  readonly host: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly type: 'read_write' | 'read_only';
  readonly region_id: string;
  readonly provisioner: string;
  readonly autoscaling_limit_min_cu: number;
  readonly autoscaling_limit_max_cu: number;
  readonly suspend_timeout_seconds: number;
  readonly current_state: 'init' | 'active' | 'idle';
  readonly pending_state?: 'active' | 'idle' | undefined;
  readonly settings: { readonly pg_settings: PgSettings };
  readonly pooler_enabled: boolean;
  readonly pooler_mode: 'transaction';
  readonly pooled_sessions: PooledSessions;
  readonly pooler_host?: string | undefined;
  readonly disabled: boolean;
  readonly passwordless_access: boolean;
  readonly last_active?: string | undefined;
  /** Why the compute isn't active, if its last start failed or its server ended by itself. */
  readonly last_error?: string | undefined;
  readonly creation_source: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly proxy_host: string;
};

/** An operation, with the duration that the public service requires. */
export type OperationRecord = {
  readonly id: string;
  readonly project_id: string;
  readonly branch_id: string;
  /** Missing for an operation on the branch itself. */
  readonly endpoint_id?: string | undefined;
  readonly action:
    | 'create_branch'
    | 'create_timeline'
    | 'delete_timeline'
    | 'start_compute'
    | 'apply_config'
    | 'suspend_compute'
    | 'check_availability';
  readonly status: 'scheduling' | 'running' | 'finished' | 'failed' | 'skipped';
  readonly failures_count: number;
  readonly error?: string | undefined;
  /** What started the operation, if no request did. */
  readonly triggered_by?: 'connection' | 'inactivity' | undefined;
  readonly created_at: string;
  readonly updated_at: string;
  /** Milliseconds from creation to the last change of the status. */
  readonly total_duration_ms: number;
};

export type StoredCompute = {
  readonly record: ComputeRecord;
  readonly address: ComputeAddress;
  /** The time (ms since 1970) up to which the usage of an active compute has been counted. */
  readonly uncountedSince?: number | undefined;
  /** Whether clients may replicate, as its project's settings were when the compute was last started. */
  readonly logicalReplication?: boolean | undefined;
};

/** What an operation does. The step is stored, so that the service can resume the operation after a restart. */
export type OperationStep = ComputeStep | BranchStep | SnapshotStep;

export type ComputeStep =
  | { readonly kind: 'start' | 'suspend' | 'attach' | 'check' }
  /** A change of databases or roles, which is recorded after it was made. */
  | { readonly kind: 'sql' }
  | { readonly kind: 'remove'; readonly type: ComputeRecord['type'] }
  | { readonly kind: 'apply'; readonly before: ComputeRecord };

export type BranchStep =
  /** Copies the data of a parent, which may be a snapshot. Without a parent, it makes new data with this owner. */
  | {
      readonly kind: 'createBranch';
      readonly parentId?: string | undefined;
      readonly passwordsOf?: string | undefined;
      readonly moment?: Moment | undefined;
      readonly isSchemaOnly?: boolean | undefined;
      readonly keepsHistory?: boolean | undefined;
      readonly owner?: BranchOwner | undefined;
    }
  /** Replaces the branch's data with that of the source. The branch `preservedId` gets the data from before. */
  | {
      readonly kind: 'restoreBranch';
      readonly sourceId: string;
      readonly moment?: Moment | undefined;
      readonly preservedId?: string | undefined;
    }
  /** Gives the branch the name, settings and computes of the target, whose computes don't run. */
  | { readonly kind: 'finalizeBranch'; readonly targetId: string; readonly oldName?: string | undefined }
  | { readonly kind: 'deleteBranch' };

/** A step of an operation on the branch that the snapshot is made from. */
export type SnapshotStep =
  | {
      readonly kind: 'createSnapshot';
      readonly snapshotId: string;
      readonly moment?: Moment | undefined;
    }
  | { readonly kind: 'deleteSnapshot'; readonly snapshotId: string };

const BRANCH_KINDS: Readonly<Record<BranchStep['kind'], true>> = {
  createBranch: true,
  restoreBranch: true,
  finalizeBranch: true,
  deleteBranch: true,
};
const SNAPSHOT_KINDS: Readonly<Record<SnapshotStep['kind'], true>> = {
  createSnapshot: true,
  deleteSnapshot: true,
};

export const isBranchStep = (step: OperationStep): step is BranchStep =>
  Object.hasOwn(BRANCH_KINDS, step.kind);
export const isSnapshotStep = (step: OperationStep): step is SnapshotStep =>
  Object.hasOwn(SNAPSHOT_KINDS, step.kind);

export type StoredOperation = {
  readonly record: OperationRecord;
  readonly step: OperationStep;
  /** The id of the first operation of the same call. */
  readonly group: string;
  /** Whether a service with `--no-postgres` has begun it. */
  readonly isSimulated?: boolean | undefined;
};

export type StoredKey = {
  readonly id: number;
  readonly name: string;
  /** SHA-256 of the key's value, hexadecimal. The value itself is not stored. */
  readonly hash: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly last_used_from_addr: string;
};

/** A deleted project whose processes and data still exist: the engine removes them later. */
export type PendingDeletion = {
  readonly projectId: string;
  readonly branchIds: readonly string[];
  readonly computeIds: readonly string[];
};

/** A deleted project that can be recovered: the engine keeps its data. */
export type DeletedProject = PendingDeletion & {
  /** The project's record as it was. */
  readonly record: ProjectRecord;
  readonly deleted_at: string;
  readonly recoverable_until: string;
  /** The mutations that bring the project back. */
  readonly mutations: readonly Mutation[];
};

/** Sets or removes one record of the account. Applying it twice has the same effect as once. */
export type Mutation =
  | { readonly set: 'project'; readonly value: ProjectRecord }
  | { readonly set: 'branch'; readonly value: BranchRecord }
  | { readonly set: 'snapshot'; readonly value: SnapshotRecord }
  | { readonly set: 'compute'; readonly value: StoredCompute }
  | { readonly set: 'operation'; readonly value: StoredOperation }
  | { readonly set: 'key'; readonly value: StoredKey }
  | { readonly set: 'leftover'; readonly value: PendingDeletion }
  /** Sets the deleted project, and removes it from the projects that exist. */
  | { readonly set: 'deleted'; readonly value: DeletedProject }
  | {
      readonly removed: 'branch' | 'snapshot' | 'compute' | 'operation';
      readonly projectId: string;
      readonly id: string;
    }
  | { readonly removed: 'project' | 'leftover' | 'deleted'; readonly projectId: string }
  /** `hash` is set in a snapshot of the account, which doesn't contain the revoked key itself. */
  | { readonly removed: 'key'; readonly id: number; readonly hash?: string };

export const isUnfinished = (operation: StoredOperation): boolean =>
  operation.record.status === 'scheduling' || operation.record.status === 'running';
