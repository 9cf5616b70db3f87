/**
 * Which changes an agent may make without a question: those of the branches that it has created. All others need the user's
 * approval. Clients of agents may ask nothing, so the question is asked here, in the window.
 */
import { l10n } from 'vscode';
import type { Branch } from '../../api/records/records.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import { accountId } from '../../model/account/accounts.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import type { AgentBranches, Caller } from '../../model/agents/agentBranches.ts';
import type { BranchList } from '../../model/inventory/branchLists.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import type { BranchRef } from '../../model/workBranch/branchMap.ts';
import { approve, type ApprovalRequest } from '../notifications/approval.ts';
import { branchTitle } from '../text/branchText.ts';
import { sanitize } from '../text/sanitize.ts';
import { window } from '../window.ts';
import { requireToolConnection } from './toolCall.ts';

export interface GateDependencies {
  readonly session: Session;
  readonly guards: Guards;
  readonly inventory: Inventory;
  readonly agentBranches: AgentBranches;
  readonly clock?: Clock;
}

/** A branch that an agent has named, as it is now. */
export interface GatedBranch extends BranchRef {
  readonly connection: AccountConnection;
  readonly branch: Branch;
  readonly list: BranchList;
  readonly title: string;
  /** See `isOwnBranch`. */
  readonly isOwn: boolean;
}

/** Loads the branches of a project, because an old list may lack a child or a new protection. @throws {Error} for the agent */
export async function requireFreshBranches(
  { session, inventory, agentBranches }: GateDependencies,
  projectId: string,
): Promise<BranchList> {
  const { account } = requireToolConnection({ session });
  const list = await inventory.branches.refresh(projectId);
  if (list === undefined)
    throw new Error(
      inventory.branches.isOffered
        ? `Couldn't load the branches of ${projectId}. Does the project exist?`
        : "This service doesn't list branches, or this API key doesn't allow it.",
    );
  if (list.failure !== undefined) throw list.failure;
  await agentBranches.update(accountId(account), projectId, list.branches);
  return list;
}

/** @throws {Error} for the agent if the branch isn't in the project */
export async function findGatedBranch(
  deps: GateDependencies,
  caller: Caller,
  { projectId, branchId }: Pick<BranchRef, 'projectId' | 'branchId'>,
): Promise<GatedBranch> {
  const connection = requireToolConnection(deps);
  const list = await requireFreshBranches(deps, projectId);
  const branch = list.branches.get(branchId);
  if (branch === undefined)
    throw new Error(`${projectId} has no branch ${branchId}. It may have been deleted.`);
  const ref = { account: accountId(connection.account), projectId, branchId };
  const isOwn = isOwnBranch(deps, caller, list, ref);
  return { ...ref, connection, branch, list, title: branchTitle(branchId, branch), isOwn };
}

/** Whether an agent may reset, delete and write to a branch without a question. @param list a fresh one */
export function isOwnBranch(
  { agentBranches, guards }: GateDependencies,
  caller: Caller,
  list: BranchList,
  ref: BranchRef,
): boolean {
  const branch = list.branches.get(ref.branchId);
  return (
    branch !== undefined &&
    branch.default !== true &&
    list.childrenOf(branch.id).length === 0 &&
    // A protected branch counts as marked.
    guards.cachedMark(ref) === undefined &&
    agentBranches.isMadeBy(ref, caller)
  );
}

/** The name of an agent as the user sees it. Agents choose it themselves. */
export const agentName = (agent: string): string => sanitize(agent, 40) || l10n.t('An agent');

/** Milliseconds that a call waits for the user's answer, because clients give up as well. */
const MAX_WAIT = 60_000;

/** The last question of a window. Agents may send many calls at once, and their questions wait for each other. */
const questions = new WeakMap<Guards, Promise<unknown>>();

/** @throws {Error} for the agent if the user doesn't approve the change. @throws {ReadOnlyError} */
export async function approveForAgent(
  { guards, clock = systemClock }: Pick<GateDependencies, 'guards' | 'clock'>,
  change: ApprovalRequest,
  initialConnection: AccountConnection,
  signal: AbortSignal,
): Promise<void> {
  const isAsked = change.detail !== undefined || guards.cachedMark(change) === 'production';
  const { promise: end, resolve } = Promise.withResolvers<'late' | 'aborted'>();
  let hasEnded = signal.aborted;
  const approved = Promise.resolve(isAsked ? questions.get(guards) : undefined).then(async () => {
    if (hasEnded) return false;
    const isApproved = await approve(guards, change, initialConnection);
    if (isApproved && hasEnded)
      void window.showInformationMessage(
        l10n.t('The agent no longer waits for the answer. Nothing was changed.'),
      );
    return isApproved;
  });
  if (isAsked)
    questions.set(
      guards,
      approved.catch(() => undefined),
    );
  const abort = () => resolve('aborted');
  const timer = clock.after(MAX_WAIT, () => resolve('late'));
  signal.addEventListener('abort', abort);
  try {
    const answer = await Promise.race([approved, end]);
    if (answer === 'late') throw new Error('The user did not answer within 60 seconds. Nothing was changed.');
    if (answer !== true) throw new Error('The user did not approve this. Nothing was changed.');
  } finally {
    hasEnded = true;
    timer.dispose();
    signal.removeEventListener('abort', abort);
  }
}
