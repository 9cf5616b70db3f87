/**
 * The contents of a new account: the format of `--projects FILE`, and the sample. Fields have the names of section 2; all
 * are optional except ids, names and the type of a compute. The keys in `api_keys` only fill the list: no one knows them.
 *
 *     { "projects": [ { "id": "shiny-wind-028834", "name": "shop", "branches": [
 *         { "id": "br-aged-salad-637688", "name": "main", "default": true, "computes": [
 *           { "type": "read_write", "autoscaling_limit_min_cu": 0.5, "current_state": "active" } ] } ] } ],
 *       "api_keys": [ { "name": "deployment" } ] }
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import type { Plan } from '../../api/records/sizes.ts';
import { isBranchId, isComputeId, isId } from '../../api/records/ids.ts';
import { ComputeCreation } from '../../api/records/requests.ts';
import { formatIssue, systemReason } from '../core/errors.ts';

const ComputeDescription = z.strictObject({
  ...z.omit(ComputeCreation, { branch_id: true }).shape,
  id: z.optional(z.string().check(z.refine(isComputeId, 'must begin with ep-'))),
  /** `active`: started when the service first starts. */
  current_state: z.optional(z.enum(['active', 'idle'])),
});
export type ComputeDescription = z.infer<typeof ComputeDescription>;

const BranchDescription = z.strictObject({
  id: z.string().check(z.refine(isBranchId, 'must begin with br-')),
  name: z.optional(z.string()),
  /** If no branch sets this, the project's first branch becomes the default. */
  default: z.optional(z.boolean()),
  computes: z.optional(z.array(ComputeDescription)),
});
export type BranchDescription = z.infer<typeof BranchDescription>;

const notNegative = z.refine((value: unknown) => Number(value) >= 0, 'must not be negative');

const ProjectDescription = z.strictObject({
  id: z.string().check(z.refine(isId, 'must be 1 to 60 of a-z, 0-9 and -')),
  name: z.string(),
  platform_id: z.optional(z.string()),
  region_id: z.optional(z.string()),
  provisioner: z.optional(z.string()),
  pg_version: z.optional(z.int().check(z.refine((major) => major > 0, 'must be above 0'))),
  cpu_used_sec: z.optional(z.number().check(notNegative)),
  branch_logical_size_limit: z.optional(z.int().check(notNegative)),
  created_at: z.optional(z.iso.datetime('must be a time in UTC such as 2026-01-31T12:00:00Z')),
  branches: z.optional(z.array(BranchDescription)),
});
export type ProjectDescription = z.infer<typeof ProjectDescription>;

export const AccountDescription = z.strictObject({
  projects: z.array(ProjectDescription),
  api_keys: z.optional(z.array(z.strictObject({ name: z.string() }))),
});
export type AccountDescription = z.infer<typeof AccountDescription>;

export interface ProjectsFile {
  readonly file: string;
  /** `problem`: the first one, if the file can't be read or is not valid. */
  readonly content: AccountDescription | { readonly problem: string };
}

export function readProjectsFile(file: string): ProjectsFile {
  try {
    return { file, content: parseAccount(readFileSync(file)) };
  } catch (error) {
    return { file, content: { problem: systemReason(error) } };
  }
}

function parseAccount(bytes: Uint8Array): ProjectsFile['content'] {
  let json: unknown;
  try {
    // Also removes the byte order mark that some editors add.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { problem: `it is not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  const result = AccountDescription.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return { problem: issue === undefined ? 'it is not valid' : formatIssue(issue) };
}

/** A range of sizes, in CU. */
const size = (min: number, max: number) => ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max });

/** What a small company might have. */
const SAMPLE_ACCOUNT: AccountDescription = {
  projects: [
    {
      id: 'shiny-wind-028834',
      name: 'shop',
      branches: [
        {
          id: 'br-aged-salad-637688',
          name: 'main',
          computes: [
            { id: 'ep-little-smoke-851426', type: 'read_write', current_state: 'active' },
            { id: 'ep-steep-forest-654321', type: 'read_only', ...size(0.25, 1) },
          ],
        },
        {
          id: 'br-sweet-breeze-497520',
          name: 'checkout-rewrite',
          computes: [
            {
              id: 'ep-purple-water-204912',
              type: 'read_write',
              ...size(0.5, 2),
              suspend_timeout_seconds: 3600,
            },
          ],
        },
        { id: 'br-frosty-lake-110382', name: 'before-migration' },
      ],
    },
    {
      id: 'quiet-sunset-771503',
      name: 'analytics',
      branches: [
        {
          id: 'br-wispy-meadow-403718',
          name: 'main',
          computes: [
            {
              id: 'ep-bold-thunder-385207',
              type: 'read_write',
              ...size(1, 4),
              settings: { pg_settings: { work_mem: '16MB' } },
              current_state: 'active',
            },
            { id: 'ep-silent-river-918264', type: 'read_only', name: 'dashboards', ...size(1, 1) },
            { id: 'ep-old-paper-557019', type: 'read_only', disabled: true },
          ],
        },
      ],
    },
    {
      id: 'calm-poetry-195246',
      name: 'playground',
      branches: [
        {
          id: 'br-tiny-cloud-862093',
          name: 'main',
          computes: [{ id: 'ep-green-hat-340975', type: 'read_write' }],
        },
        {
          id: 'br-young-moon-279461',
          name: 'ideas',
          computes: [{ id: 'ep-plain-field-520137', type: 'read_only' }],
        },
      ],
    },
  ],
  api_keys: [{ name: 'laptop' }, { name: 'deployment' }, { name: 'nightly reports' }],
};

/** On the free plan, all computes have the default size, since the plan does not allow larger ones. */
export function sampleAccount(plan: Plan): AccountDescription {
  if (plan === 'paid') return SAMPLE_ACCOUNT;
  const withoutSizes = (name: string, value: unknown) =>
    name.startsWith('autoscaling_limit') ? undefined : value;
  return AccountDescription.parse(JSON.parse(JSON.stringify(SAMPLE_ACCOUNT, withoutSizes)));
}
