/** Request bodies. The local service parses requests with them; the extension uses only their types. */
import * as z from 'zod/mini';
import { isAutosuspendDelay } from '../rules/autosuspendDelay.ts';
import { isName, MAX_NAME_LENGTH, MAX_SHORT_NAME_LENGTH } from '../rules/nameLength.ts';
import { isBranchId } from './ids.ts';
import type { PgSettings } from './records.ts';

const nameUpTo = (maxLength: number, { canBeEmpty = false } = {}) =>
  z
    .string()
    .check(
      z.refine(
        (text) => (canBeEmpty && text === '') || isName(text, maxLength),
        `must have 1 to ${maxLength} characters, no control characters and not only spaces`,
      ),
    );
const name = nameUpTo(MAX_NAME_LENGTH);

const pgSettings: z.ZodMiniType<PgSettings> = z.record(z.string(), z.string());
const branchId = z.string().check(z.refine(isBranchId, 'must be a branch id: br- and then a-z, 0-9 or -'));

/** The attributes that can be set when a compute is created or updated. Sizes are in CU, the delay is in seconds. */
const attributes = {
  autoscaling_limit_min_cu: z.optional(z.number()),
  autoscaling_limit_max_cu: z.optional(z.number()),
  suspend_timeout_seconds: z.optional(
    z.int().check(z.refine(isAutosuspendDelay, 'must be 0 (default), -1 (never) or 60 to 604800 seconds')),
  ),
  settings: z.optional(z.strictObject({ pg_settings: z.optional(pgSettings) })),
  pooler_enabled: z.optional(z.boolean()),
  pooler_mode: z.optional(z.literal('transaction')),
  disabled: z.optional(z.boolean()),
  passwordless_access: z.optional(z.boolean()),
  name: z.optional(nameUpTo(MAX_SHORT_NAME_LENGTH)),
};

/** Attributes of a new compute (POST …/endpoints). */
export const ComputeCreation = z.strictObject({
  ...attributes,
  branch_id: branchId,
  type: z.enum(['read_write', 'read_only']),
  region_id: z.optional(z.string()),
  provisioner: z.optional(z.string()),
});
export type ComputeCreation = z.infer<typeof ComputeCreation>;

/** Attributes to change (PATCH …/endpoints/{endpoint_id}); `branch_id` moves the compute. */
export const ComputePatch = z.strictObject({
  ...attributes,
  branch_id: z.optional(branchId),
  provisioner: z.optional(z.string()),
});
export type ComputePatch = z.infer<typeof ComputePatch>;

export const ComputeCreationBody = z.strictObject({ endpoint: ComputeCreation });
export const ComputePatchBody = z.strictObject({ endpoint: ComputePatch });

/** The longest name of a database or role in bytes, because Postgres truncates longer ones. */
const MAX_NAME_BYTES = 63;
/** A name of a database or role. Connection URIs reject control characters, and URL paths can't contain `.` or `..`. */
const sqlName = z.string().check(
  z.refine(
    (name) =>
      !['', '.', '..'].includes(name) &&
      // oxlint-disable-next-line no-control-regex
      !/[\u0000-\u001f\u007f]/.test(name) &&
      name.isWellFormed() &&
      new TextEncoder().encode(name).length <= MAX_NAME_BYTES,
    `must have 1 to ${MAX_NAME_BYTES} bytes in UTF-8 and no control characters, and not be . or ..`,
  ),
);

/** The body of POST …/branches/{branch_id}/databases. */
export const DatabaseCreationBody = z.strictObject({
  database: z.strictObject({ name: sqlName, owner_name: sqlName }),
});
/** The body of PATCH …/databases/{database_name}. */
export const DatabaseChangeBody = z.strictObject({
  database: z.strictObject({ name: z.optional(sqlName), owner_name: z.optional(sqlName) }),
});
/** The body of POST …/branches/{branch_id}/roles. */
export const RoleCreationBody = z.strictObject({
  role: z.strictObject({ name: sqlName, no_login: z.optional(z.boolean()) }),
});

/** The body of POST /api_keys. */
export const ApiKeyCreationBody = z.strictObject({
  key_name: nameUpTo(MAX_SHORT_NAME_LENGTH),
});

export const Timestamp = z.iso.datetime({
  offset: true,
  error: 'must be a time such as 2026-01-31T12:00:00Z',
});

/** The body of POST …/branches, which may be missing. An empty `parent_id` means the default branch. */
export const BranchCreationBody = z.strictObject({
  branch: z.optional(
    z.strictObject({
      name: z.optional(name),
      parent_id: z.optional(z.string()),
      parent_lsn: z.optional(z.string()),
      parent_timestamp: z.optional(Timestamp),
      protected: z.optional(z.boolean()),
      init_source: z.optional(z.string()),
      expires_at: z.optional(Timestamp),
    }),
  ),
  endpoints: z.optional(z.array(z.omit(ComputeCreation, { branch_id: true }))),
  annotation_value: z.optional(
    z.record(z.string(), z.string()).check(
      z.refine((value) => Object.keys(value).length <= 50, 'must have at most 50 properties'),
      // The size is limited, because each change writes the whole file of the account again.
      z.refine((value) => JSON.stringify(value).length <= 4096, 'must have at most 4096 characters as JSON'),
    ),
  ),
});
export type BranchCreationBody = z.infer<typeof BranchCreationBody>;
export type BranchCreation = Pick<BranchCreationBody, 'branch' | 'endpoints' | 'annotation_value'>;

/** The body of PATCH …/branches/{branch_id}; `expires_at: null` removes the expiry. */
export const BranchPatchBody = z.strictObject({
  branch: z.strictObject({
    name: z.optional(name),
    protected: z.optional(z.boolean()),
    expires_at: z.optional(z.nullable(Timestamp)),
  }),
});
export type BranchPatch = z.infer<typeof BranchPatchBody>['branch'];

/** The body of POST …/branches/{branch_id}/restore. */
export const BranchRestoreBody = z.strictObject({
  source_branch_id: branchId,
  source_lsn: z.optional(z.string()),
  source_timestamp: z.optional(Timestamp),
  preserve_under_name: z.optional(nameUpTo(MAX_NAME_LENGTH, { canBeEmpty: true })),
});
export type BranchRestoreBody = z.infer<typeof BranchRestoreBody>;

const slug = z
  .string()
  .check(
    z.refine(
      (text) => /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text),
      'must have 1 to 63 characters: a-z, 0-9 and -, a letter first and no - at the end',
    ),
  );

/** The parameters of POST …/branches/{branch_id}/snapshot. */
export const SnapshotCreation = z.strictObject({
  name: z.optional(name),
  slug: z.optional(slug),
  lsn: z.optional(z.string()),
  timestamp: z.optional(Timestamp),
  expires_at: z.optional(Timestamp),
});
export type SnapshotCreation = z.infer<typeof SnapshotCreation>;

/** The body of PATCH …/snapshots/{snapshot_id}; `expires_at: null` removes the expiry. */
export const SnapshotPatchBody = z.strictObject({
  snapshot: z.strictObject({
    name: z.optional(name),
    expires_at: z.optional(z.nullable(Timestamp)),
  }),
});
export type SnapshotPatch = z.infer<typeof SnapshotPatchBody>['snapshot'];

/** The body of POST …/snapshots/{snapshot_id}/restore. The target is replaced when the restore is finalized. */
export const SnapshotRestoreBody = z.strictObject({
  name: z.optional(name),
  target_branch_id: z.optional(branchId),
  finalize_restore: z.optional(z.boolean()),
});
export type SnapshotRestoreBody = z.infer<typeof SnapshotRestoreBody>;

/** The body of POST …/branches/{branch_id}/finalize_restore; `name` is for the branch that is replaced. */
export const FinalizeRestoreBody = z.strictObject({ name: z.optional(name) });
export type FinalizeRestoreBody = z.infer<typeof FinalizeRestoreBody>;

/** Defaults for new computes of a project. */
const defaultEndpointSettings = z.strictObject({
  pg_settings: z.optional(pgSettings),
  autoscaling_limit_min_cu: attributes.autoscaling_limit_min_cu,
  autoscaling_limit_max_cu: attributes.autoscaling_limit_max_cu,
  suspend_timeout_seconds: attributes.suspend_timeout_seconds,
});
export type DefaultEndpointSettings = z.infer<typeof defaultEndpointSettings>;

/** Settings of a project. Logical replication can't be turned off again. */
const projectSettings = z.strictObject({ enable_logical_replication: z.optional(z.boolean()) });
export type ProjectSettings = z.infer<typeof projectSettings>;

const projectAttributes = {
  settings: z.optional(projectSettings),
  name: z.optional(name),
  default_endpoint_settings: z.optional(defaultEndpointSettings),
  history_retention_seconds: z.optional(z.int().check(z.gte(0), z.lte(2_592_000))),
};

/** The body of POST /projects. */
export const ProjectCreationBody = z.strictObject({
  project: z.strictObject({
    ...projectAttributes,
    branch: z.optional(
      z.strictObject({
        name: z.optional(name),
        role_name: z.optional(sqlName),
        database_name: z.optional(sqlName),
      }),
    ),
    autoscaling_limit_min_cu: attributes.autoscaling_limit_min_cu,
    autoscaling_limit_max_cu: attributes.autoscaling_limit_max_cu,
    provisioner: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
    region_id: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
    pg_version: z.optional(z.int()),
    store_passwords: z.optional(z.literal(true)),
    org_id: z.optional(z.string()),
  }),
});
export type ProjectCreation = z.infer<typeof ProjectCreationBody>['project'];

/** The body of PATCH /projects/{project_id}. */
export const ProjectPatchBody = z.strictObject({ project: z.strictObject(projectAttributes) });
export type ProjectPatch = z.infer<typeof ProjectPatchBody>['project'];
