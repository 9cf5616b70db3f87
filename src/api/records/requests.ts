/** Request bodies of section 4. The local service parses requests with them; the extension uses only their types. */
import * as z from 'zod/mini';
import { isAutosuspendDelay } from './autosuspend.ts';
import { isBranchId } from './ids.ts';
import type { PgSettings } from './records.ts';

const pgSettings: z.ZodMiniType<PgSettings> = z.record(z.string(), z.string());
const branchId = z.string().check(z.refine(isBranchId, 'must be a branch id: br- and then a-z, 0-9 or -'));

/** Common to creating and updating a compute. Sizes in CU, the delay in seconds (see `autosuspend.ts`). */
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
  name: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
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
export const ComputeChange = z.strictObject({
  ...attributes,
  branch_id: z.optional(branchId),
  provisioner: z.optional(z.string()),
});
export type ComputeChange = z.infer<typeof ComputeChange>;

export const ComputeCreationBody = z.strictObject({ endpoint: ComputeCreation });
export const ComputeChangeBody = z.strictObject({ endpoint: ComputeChange });

/** Postgres cuts longer names off. Control characters would not survive a connection URI. */
const MAX_NAME_BYTES = 63;
const sqlName = z.string().check(
  z.refine(
    (name) =>
      name !== '' &&
      // oxlint-disable-next-line no-control-regex
      !/[\u0000-\u001f\u007f]/.test(name) &&
      name.isWellFormed() &&
      new TextEncoder().encode(name).length <= MAX_NAME_BYTES,
    `must have 1 to ${MAX_NAME_BYTES} bytes in UTF-8 and no control characters`,
  ),
);

/** POST …/branches/{branch_id}/databases. */
export const DatabaseCreationBody = z.strictObject({
  database: z.strictObject({ name: sqlName, owner_name: sqlName }),
});
/** PATCH …/databases/{database_name}. */
export const DatabaseChangeBody = z.strictObject({
  database: z.strictObject({ name: z.optional(sqlName), owner_name: z.optional(sqlName) }),
});
/** POST …/branches/{branch_id}/roles. */
export const RoleCreationBody = z.strictObject({
  role: z.strictObject({ name: sqlName, no_login: z.optional(z.boolean()) }),
});

/** POST /api_keys. */
export const ApiKeyCreationBody = z.strictObject({
  key_name: z.string().check(z.minLength(1), z.maxLength(64)),
});
