/** Renews the expiry of branches that were created for a git branch, while an env file uses them. */
import { l10n } from 'vscode';
import { systemClock, type Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import type { ChangeGuards } from '../../operations/guards.ts';
import type { Session } from '../../account/session.ts';
import type { BranchActions } from '../../branches/branchActions.ts';
import type { KnownBranch } from '../knownHosts.ts';
import { expiryAfter, GIT_BRANCH_LIFETIME, needsRenewal } from '../../branches/expiryTime.ts';
import type { Log } from '../../window/ui/log.ts';
import { announce } from '../../window/ui/announce.ts';
import { formatDate } from '../../window/ui/timeText.ts';
import { knownBranchText } from './workBranchText.ts';
import type { WorkFolders } from './workFolders.ts';
import { isSameBranch } from '../../account/refs.ts';

interface RenewalDependencies {
  readonly workFolders: WorkFolders;
  readonly session: Session;
  readonly guards: ChangeGuards;
  readonly branchActions: BranchActions;
  readonly log: Pick<Log, 'error'>;
}

/** Milliseconds until a renewal that failed is tried again, when the window next looks at its branches. */
const RETRY_AFTER = 10 * 60_000;

export function renewUsedBranches(deps: RenewalDependencies, clock: Clock = systemClock): Disposable {
  /** When each expiry was last tried. A renewal may fail because the machine has just woken up. */
  const tried = new Map<string, number>();
  return deps.workFolders.onDidChange(() => {
    for (const branch of branchesToRenew(deps)) {
      const { account, projectId, branchId, expiresAt } = branch;
      const expiry = JSON.stringify([account, projectId, branchId, expiresAt]);
      if (clock.now() - (tried.get(expiry) ?? -Infinity) < RETRY_AFTER) continue;
      tried.set(expiry, clock.now());
      void renewExpiry(deps, branch);
    }
  });
}

/** Skips marked branches: the mark may forbid changes or require a confirmation, which a renewal isn't worth. */
function branchesToRenew({ workFolders, session, guards }: RenewalDependencies): KnownBranch[] {
  const account = session.connection?.accountId;
  return workFolders.states.flatMap(({ current, map }) =>
    current?.expiresAt !== undefined &&
    current.account === account &&
    needsRenewal(current.expiresAt) &&
    map.created.some((created) => isSameBranch(created, current)) &&
    guards.cachedMark(current) === undefined
      ? [current]
      : [],
  );
}

async function renewExpiry(
  { branchActions, session, log }: RenewalDependencies,
  branch: KnownBranch,
): Promise<void> {
  const expires_at = expiryAfter(GIT_BRANCH_LIFETIME);
  try {
    await branchActions.update(branch, { expires_at }, { initialConnection: session.connection });
    announce(l10n.t('{0} expires on {1}', knownBranchText(branch), formatDate(expires_at)));
  } catch (error) {
    log.error('Renewing the expiry of a branch', error);
  }
}
