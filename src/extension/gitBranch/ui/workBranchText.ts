/** The status bar's texts about the branch of an env file. */
import { l10n } from 'vscode';
import type { Mark } from '../../window/marks.ts';
import type { AskReason, EnvFileDecision, KeepReason, StopReason } from '../envFileDecision.ts';
import type { PauseReason } from '../gitState.ts';
import type { KnownBranch } from '../knownHosts.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import { fileProblemTexts } from '../../window/ui/fileProblemText.ts';

export const knownBranchName = ({ branchName, branchId }: KnownBranch): string =>
  nameOrId(branchName, branchId);

/** Returns text such as `main (shop)`. */
export const knownBranchText = (known: KnownBranch): string =>
  `${knownBranchName(known)} (${nameOrId(known.projectName, known.projectId)})`;

export const noBranchReason = (file: string): string =>
  l10n.t('{0} points to no known database branch', file);

/** Returns why the branch in the file deserves attention. */
export function branchWarnings(
  { isProtected, isDeleted }: KnownBranch,
  more: {
    readonly mark: Mark | undefined;
    readonly isExpired: boolean;
    /** The name of another worktree with the same branch. */
    readonly sharedWith: string | undefined;
  },
): readonly string[] {
  return [
    more.mark === 'production' ? l10n.t('This is production.') : '',
    isProtected ? l10n.t('This branch is protected.') : '',
    isDeleted ? l10n.t('This branch was deleted.') : '',
    more.isExpired && !isDeleted ? l10n.t('This branch has expired.') : '',
    more.sharedWith === undefined ? '' : l10n.t('The worktree {0} uses it, too.', sanitize(more.sharedWith)),
  ].filter((text) => text !== '');
}

/** Says how many branches Tidy Up Branches may delete; empty for 0. */
export function unusedBranchesText(count: number): readonly string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? l10n.t('The Git branch of 1 database branch no longer exists.')
      : l10n.t('The Git branches of {0} database branches no longer exist.', count),
  ];
}

/** Says that the file points to the branch of another git branch. */
export const otherGitBranchText = (gitBranch: string, file: string, name: string): string =>
  l10n.t('{0} is checked out, but {1} still points to {2}.', gitBranch, file, name);

/** Returns why a git branch could get a database branch. */
export function missingBranchText(reason: AskReason, gitBranch: string): string {
  const texts: Record<AskReason, string> = {
    unmapped: l10n.t('{0} has no database branch yet.', gitBranch),
    missing: l10n.t('The worktree of {0} has no connection string yet.', gitBranch),
    shared: l10n.t('The worktree of {0} uses the database branch of another worktree.', gitBranch),
  };
  return texts[reason];
}

export function pauseText(pause: PauseReason): string {
  const texts: Record<PauseReason, string> = {
    detached: l10n.t('no Git branch'),
    rebase: l10n.t('rebase'),
    merge: l10n.t('merge'),
    cherryPick: l10n.t('cherry-pick'),
    revert: l10n.t('revert'),
    bisect: l10n.t('bisect'),
  };
  return texts[pause];
}

/** Returns why the file doesn't point to the database branch of the checked-out git branch; undefined if it does. */
export function keptFileText(decision: EnvFileDecision, gitBranch: string): string | undefined {
  switch (decision.kind) {
    case 'paused':
      return l10n.t(
        "The database branch doesn't switch with Git at the moment: {0}.",
        pauseText(decision.reason),
      );
    case 'ask':
      return l10n.t('{0} has no database branch yet.', gitBranch);
    case 'keep':
      return keepText(decision.reason, gitBranch);
    case 'stopped':
      return stopText(decision.reason, decision.message);
    case 'nothing':
    case 'switch':
      return undefined;
    default:
      return decision satisfies never;
  }
}

export const notConnectedText = (): string => l10n.t("This window isn't connected to the local service.");

export const followedByNeonText = (): string =>
  l10n.t('“neon git” switches the database branch, because .neon has git.follow.');

function keepText(reason: KeepReason, gitBranch: string): string {
  const texts: Record<KeepReason, string> = {
    byNeon: followedByNeonText(),
    defaultBranch: l10n.t('{0} is the default Git branch and has no database branch.', gitBranch),
    declined: l10n.t('You chose to use no database branch for {0}.', gitBranch),
    undone: l10n.t('You undid the switch to the database branch of {0}.', gitBranch),
  };
  return texts[reason];
}

function stopText(reason: StopReason, message = ''): string {
  const texts: Record<StopReason, string> = {
    ...fileProblemTexts(l10n.t('The file')),
    noValue: l10n.t('The file has no connection string.'),
    foreignValue: l10n.t('The connection string belongs to no database branch of this repository.'),
    unsaved: l10n.t('The file has unsaved changes.'),
    notWritten: l10n.t("The file couldn't be written. The log says why."),
    tracked: l10n.t('The file is part of the repository.'),
    gitFailed: l10n.t('Git failed: {0}', sanitize(message.split('\n')[0] ?? '')),
    otherAccount: l10n.t('The database branch belongs to another account.'),
    deleted: l10n.t('The database branch was deleted.'),
    expired: l10n.t('The database branch has expired.'),
    noCompute: l10n.t('The database branch has no compute.'),
    noPassword: l10n.t("The service doesn't provide the password."),
    offline: l10n.t('The service is not reachable.'),
  };
  return texts[reason];
}
