/** The connection string of a branch, with the role, database and parameters of the previous one. */
import { isPermanentRejection, isRejected } from '../../api/transport/errors.ts';
import { connectionString } from '../connection/connectionStrings.ts';
import { findComputeCredentials, computeHost } from '../connection/branchLogin.ts';
import { findPrimary } from '../inventory/branchStatus.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Session } from '../account/session.ts';
import { parseDatabaseUrl, replaceUrlTarget } from '../../api/addresses/databaseUrl.ts';
import type { TargetProblem } from './envFileDecision.ts';
import type { ReplacedVariable } from './formerTls.ts';
import type { KnownHosts } from './knownHosts.ts';
import type { BranchRef } from '../account/refs.ts';

/** The connection string of a branch, or why there is none. */
export type FoundBranchUrl =
  /** The value for the env file, which is a secret. */
  | { readonly value: string; readonly problem?: undefined }
  | { readonly problem: TargetProblem; readonly value?: undefined };

export interface BranchUrlDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly knownHosts: KnownHosts;
}

/** Finds the URL of a branch. Never rejects. @param target the branch. @param before the variable that is to have it */
export async function findBranchUrl(
  deps: BranchUrlDependencies,
  target: BranchRef,
  before: ReplacedVariable,
): Promise<FoundBranchUrl> {
  const { inventory, session, knownHosts } = deps;
  const { connection } = session;
  if (connection?.accountId !== target.account) return { problem: 'offline' };
  try {
    const compute = await findPrimary(inventory, target);
    if (compute === undefined)
      return { problem: (await isDeleted(inventory, target)) ? 'deleted' : 'noCompute' };
    const login = parseDatabaseUrl(before.value);
    if (login === undefined) return { problem: 'noPassword' };
    const pooled = knownHosts.get(login.host)?.isPooled === true;
    const credentials = await findComputeCredentials(connection, compute, { ...login, pooled });
    if (credentials === undefined) return { problem: 'noPassword' };
    await knownHosts.remember(inventory, target.account, [compute]);
    const plain = connectionString({
      ...login,
      ...credentials,
      host: computeHost(compute, pooled),
    });
    const url = await knownHosts.withFormerTls(before, plain, target.account);
    return { value: replaceUrlTarget(before.value, url) ?? url };
  } catch (error) {
    if (!isPermanentRejection(error)) return { problem: 'offline' };
    return { problem: (await isDeleted(inventory, target)) ? 'deleted' : 'noPassword' };
  }
}

/** Whether the service says that there is no such project. One that the list lacks may be of another organization. */
export const isProjectGone = (inventory: Inventory, projectId: string): Promise<boolean> =>
  inventory.refreshComputes(projectId).then(
    () => false,
    (error: unknown) => isRejected(error, 404),
  );

async function isDeleted(inventory: Inventory, { projectId, branchId }: BranchRef): Promise<boolean> {
  const isGone = await isProjectGone(inventory, projectId);
  const list = await inventory.branches.refresh(projectId);
  // An old list may lack a new branch.
  return isGone || (list !== undefined && list.failure === undefined && !list.isListed(branchId));
}
