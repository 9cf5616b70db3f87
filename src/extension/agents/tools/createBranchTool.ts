/** Creates a branch for an agent, which always expires, and writes its URL to an env file in the agent's folder. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Branch } from '../../../api/records/records.ts';
import { requireAgentLogin, requireLoginRole } from '../agentLogin.ts';
import { connectionString } from '../../connection/connectionStrings.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { projectName } from '../../inventory/names.ts';
import { databaseBranchName } from '../../gitBranch/branchName.ts';
import { findPrimary } from '../../inventory/branchStatus.ts';
import { expiryAfter } from '../../branches/expiryTime.ts';
import { displayName } from '../../../base/sanitize.ts';
import { noteEnvPlace, prepareNamedEnv } from './agentEnv.ts';
import { findAgentProject } from './agentProject.ts';
import { changeBranch } from './branchChange.ts';
import { isOwnBranch, requireFreshBranches } from './agentPermissions.ts';
import { ensureOwnPasswords } from './ownPasswords.ts';
import {
  ADDING_HINTS,
  branchIdSchema,
  defineTool,
  optionalField,
  projectIdSchema,
  wholeNumber,
} from './tool.ts';
import type { ToolCall } from './toolCall.ts';

const DEFAULT_HOURS = 24;

/** Agents may have this many branches in a project. For more, the user is asked, because branches cost money. */
const MAX_UNASKED = 10;

const input = z.strictObject({
  projectId: z.optional(projectIdSchema),
  parentId: optionalField(branchIdSchema, "Default: the user's for this repository, or the default."),
  name: z.optional(z.string()),
  hours: optionalField(wholeNumber(1, 720), 'Until it expires: 1 to 720, default 24.'),
  database: z.optional(z.string()),
  envFile: optionalField(z.string(), 'Such as .env. A value of the user is never replaced.'),
  envVariable: optionalField(z.string(), 'Default: DATABASE_URL.'),
  includePassword: optionalField(z.boolean(), 'Also return the URL with its password.'),
});

type Call = ToolCall<z.infer<typeof input>>;

export const createBranchTool = defineTool({
  title: 'Create branch',
  description:
    'Creates your own branch: a copy of a database with its data. It expires. Can write its URL to a git-ignored env file in your folder. With the name of one of yours, returns it.',
  hints: ADDING_HINTS,
  input,
  output: z.object({
    projectId: z.string(),
    branchId: z.string(),
    name: z.string(),
    parentId: z.optional(z.string()),
    computeId: z.string(),
    host: z.string(),
    database: z.string(),
    role: z.string(),
    expiresAt: z.optional(z.string()),
    writtenTo: z.optional(z.string()),
    connectionString: z.optional(z.string()),
    note: z.optional(z.string()),
  }),
  secretFields: ['connectionString'],
  async run(call) {
    const { deps, account } = call;
    const { database: wanted, includePassword = false } = call.input;
    const { projectId, parentId } = await findAgentProject(call);
    const list = await requireFreshBranches(call, projectId);
    const existing = ownBranchNamed(call, list, projectId);
    const source = existing ?? requireParent(list, projectId, call.input.parentId ?? parentId);
    const request = { ...call, projectId, database: wanted };
    // Check the agent's input before creating anything, so that an error leaves nothing behind.
    const { database, role } = await requireLoginRole({ ...request, branchId: source.id });
    const env = await prepareNamedEnv(call, call.input);
    const branch = existing ?? (await createAgentBranch(call, projectId, source));
    const ref = { account, projectId, branchId: branch.id };
    const compute = await findPrimary(deps.inventory, ref);
    if (compute === undefined) throw new Error(`${displayName(branch)} has no compute.`);
    const output = {
      projectId,
      branchId: branch.id,
      name: displayName(branch),
      parentId: branch.parent_id ?? undefined,
      computeId: compute.id,
      host: compute.host,
      expiresAt: branch.expires_at ?? undefined,
      role,
      database,
    };
    try {
      await ensureOwnPasswords(call, ref, role);
      if (env === undefined && !includePassword) return output;
      const url = connectionString(
        await requireAgentLogin(deps.inventory, { ...request, branchId: branch.id }),
      );
      await deps.knownHosts.remember(deps.inventory, account, [compute]);
      if (env !== undefined) {
        const before = { name: env.variable, value: env.value };
        await env.write(await deps.knownHosts.withFormerTls(before, url, account));
        noteEnvPlace(call, ref, { envFile: env.path, envVariable: env.variable });
      }
      return { ...output, writtenTo: env?.path, connectionString: includePassword ? url : undefined };
    } catch (error) {
      return { ...output, note: deps.explain(error) };
    }
  },
});

/**
 * Finds the agent's branch with the wanted name, so that an agent whose call timed out can call again.
 * @throws {Error} if the branch isn't the agent's
 */
function ownBranchNamed(call: Call, list: BranchList, projectId: string): Branch | undefined {
  const existing = [...list.branches.values()].find(({ name }) => name === call.input.name?.trim());
  if (existing === undefined) return undefined;
  const ref = { account: call.account, projectId, branchId: existing.id };
  if (isOwnBranch(call, list, ref)) return existing;
  throw new Error(`There already is a branch with this name: ${existing.id}. Choose another name.`);
}

function requireParent(list: BranchList, projectId: string, parentId: string | undefined): Branch {
  const parent = parentId === undefined ? list.default : list.branches.get(parentId);
  if (parent === undefined)
    throw new Error(
      `${projectId} has no ${parentId === undefined ? 'default branch' : `branch ${parentId}`}.`,
    );
  if (parent.expires_at)
    throw new Error(`${parent.id} expires, so it can't have child branches. Choose another parent.`);
  return parent;
}

/**
 * Creates the branch and notes it as the agent's.
 * @throws {ApiError}
 * @throws {Error} with a message for the agent if the user doesn't approve, or the creation takes too long
 */
async function createAgentBranch(call: Call, projectId: string, parent: Branch): Promise<Branch> {
  const { deps, account, agent, connection, worktree } = call;
  const { agentBranches } = deps;
  const project = projectName(deps.inventory, projectId);
  const { count, branches, end } = agentBranches.beginCreation({ account, projectId });
  try {
    const counted = branches.map((each) => `${each.name} (${each.branchId}, of ${each.agent})`);
    const limit = count < MAX_UNASKED ? undefined : { count, max: MAX_UNASKED, branches: counted };
    await deps.approve({ kind: 'create', projectId, name: project, agent, limit }, connection, call.signal);
    const name = call.input.name?.trim() || generateBranchName(agent);
    const expiresAt = expiryAfter((call.input.hours ?? DEFAULT_HOURS) * 60 * 60);
    const creation = {
      branch: { name, parent_id: parent.id, expires_at: expiresAt },
      endpoints: [{ type: 'read_write' as const }],
    };
    const made = { account, projectId, name, agent, worktree, expiresAt };
    const { branch, pendingId } = await changeBranch(call, async (options) => {
      const result = await deps.branchActions.create(projectId, creation, options);
      const { id: branchId } = result.branch ?? {};
      // The branch is noted at once, so that it is the agent's even if the call ends before the branch is ready.
      if (branchId !== undefined) end({ ...made, branchId });
      return result;
    });
    if (branch === undefined) throw new Error('The service has created no branch.');
    if (pendingId !== undefined)
      throw new Error(
        `${name} (${branch.id}) isn't ready yet. Call createBranch with this name again later.`,
      );
    return branch;
  } finally {
    end();
  }
}

const generateBranchName = (agent: string): string =>
  `agent/${databaseBranchName(agent).slice(0, 60)}-${randomBytes(2).toString('hex')}`;
