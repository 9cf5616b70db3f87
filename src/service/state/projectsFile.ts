/**
 * The contents of a new account: the format of `--projects FILE`, and the sample. Fields have the names of the API. Required are
 * only the id and name of a project, the id of a branch, the type of a compute, and the name of a key. The keys in `api_keys` are
 * entries in the list of keys, but have no value.
 *
 *     { "projects": [ { "id": "shiny-wind-028834", "name": "shop", "branches": [
 *         { "id": "br-aged-salad-637688", "name": "main", "default": true, "computes": [
 *           { "type": "read_write", "autoscaling_limit_min_cu": 0.5, "current_state": "active" } ] } ] } ],
 *       "api_keys": [ { "name": "deployment" } ] }
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import type { Plan } from '../../api/rules/sizes.ts';
import { isBranchId, isComputeId, isId } from '../../api/records/ids.ts';
import { ComputeCreation } from '../../api/records/requests.ts';
import type { SampleBranches } from '../core/computeEngine.ts';
import { systemReason } from '../../base/systemReason.ts';
import { formatIssue } from '../core/serviceErrors.ts';

const ComputeDescription = z.strictObject({
  ...z.omit(ComputeCreation, { branch_id: true }).shape,
  id: z.optional(z.string().check(z.refine(isComputeId, 'must begin with ep-'))),
  /** `active` if the compute is to start when the service first starts. */
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

const AccountDescription = z.strictObject({
  projects: z.array(ProjectDescription),
  api_keys: z.optional(z.array(z.strictObject({ name: z.string() }))),
});
type AccountDescription = z.infer<typeof AccountDescription>;

/** A file with the contents of a new account. */
export interface ProjectsFile {
  readonly file: string;
  /** What the file says, or the first problem if it can't be read or isn't valid. */
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
    // The decoder also removes the byte order mark that some editors add.
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { problem: `it is not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  const result = AccountDescription.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  return { problem: issue === undefined ? 'it is not valid' : formatIssue(issue) };
}

/**
 * Returns an account as a small company might have it. On the free plan, which allows no larger sizes, all computes have the default
 * size.
 */
export function sampleAccount(plan: Plan): AccountDescription {
  const size = (min: number, max: number) =>
    plan === 'paid' ? { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } : {};
  const primary = (id: string, more: Partial<ComputeDescription> = {}) =>
    ({ id, type: 'read_write', ...more }) as const;
  const replica = (id: string, more: Partial<ComputeDescription> = {}) =>
    ({ id, type: 'read_only', ...more }) as const;
  const branch = (id: string, name: string, ...computes: ComputeDescription[]) => ({ id, name, computes });
  const project = (id: string, name: string, ...branches: BranchDescription[]) => ({ id, name, branches });
  return {
    projects: [
      project(
        'shiny-wind-028834',
        'shop',
        branch(
          'br-aged-salad-637688',
          'main',
          primary('ep-little-smoke-851426', { current_state: 'active' }),
          replica('ep-steep-forest-654321', size(0.25, 1)),
        ),
        branch(
          'br-sweet-breeze-497520',
          'checkout-rewrite',
          primary('ep-purple-water-204912', { ...size(0.5, 2), suspend_timeout_seconds: 3600 }),
        ),
        branch('br-frosty-lake-110382', 'before-migration'),
      ),
      project(
        'quiet-sunset-771503',
        'analytics',
        branch(
          'br-wispy-meadow-403718',
          'main',
          primary('ep-bold-thunder-385207', {
            ...size(1, 4),
            settings: { pg_settings: { work_mem: '16MB' } },
            current_state: 'active',
          }),
          replica('ep-silent-river-918264', { name: 'dashboards', ...size(1, 1) }),
          replica('ep-old-paper-557019', { disabled: true }),
        ),
      ),
      project(
        'calm-poetry-195246',
        'playground',
        branch('br-tiny-cloud-862093', 'main', primary('ep-green-hat-340975')),
        branch('br-young-moon-279461', 'ideas', replica('ep-plain-field-520137')),
      ),
    ],
    api_keys: [{ name: 'laptop' }, { name: 'deployment' }, { name: 'nightly reports' }],
  };
}

/** The branches of the sample with tables and rows. */
export const SAMPLE_DATA: SampleBranches = {
  'br-aged-salad-637688': 'main',
  'br-sweet-breeze-497520': 'checkoutRewrite',
  'br-frosty-lake-110382': 'beforeMigration',
};
