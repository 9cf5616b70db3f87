/** What the Computes view says next to its title and above its rows. */
import { l10n, type TreeView } from 'vscode';
import { markedLabel } from '../../account/ui/accountLabel.ts';
import { explainError, statusMessage } from '../../window/ui/errorMessage.ts';
import { setViewDescription, setViewMessage } from '../../window/ui/window.ts';
import type { Session } from '../../account/session.ts';
import type { Mark } from '../../window/marks.ts';
import type { Inventory } from '../inventory.ts';
import type { RetryStatus } from '../retryStatus.ts';
import { visibleRefreshFailure, type TreeNode } from './treeNodes.ts';

export interface MessageDependencies {
  readonly session: Pick<Session, 'connection'>;
  readonly inventory: Inventory;
  readonly guards: { readonly accountMark: Mark | undefined };
}

/**
 * Updates the description and the message of the view.
 * @param expanded the ids of the expanded projects @param postgresProblem why local computes can't start
 */
export function updateViewMessage(
  view: TreeView<TreeNode>,
  { session, inventory, guards }: MessageDependencies,
  expanded: ReadonlySet<string>,
  postgresProblem: string | undefined,
): void {
  const { retryStatus, state } = inventory;
  const failure = state.kind === 'failed' ? state.error : visibleRefreshFailure(inventory, expanded);
  // Always show the account, so that users don't change the wrong one.
  const account = session.connection?.account;
  setViewDescription(view, account === undefined ? '' : markedLabel(account, guards.accountMark));
  if (failure !== undefined)
    return showFailure(view, explainError(failure).message, {
      isEmpty: inventory.projects?.isEmpty !== false,
    });
  if (retryStatus.current !== undefined) return setViewMessage(view, waitText(retryStatus.current));
  const text = postgresProblem === undefined ? '' : l10n.t("Computes can't start. {0}", postgresProblem);
  setViewMessage(view, text);
}

/** Shows a failure above the tree, or next to the title if the tree is empty: a message would hide the welcome view. */
function showFailure(
  view: TreeView<TreeNode>,
  message: string,
  { isEmpty }: { readonly isEmpty: boolean },
): void {
  if (isEmpty) setViewDescription(view, message);
  setViewMessage(view, isEmpty ? '' : l10n.t('Not up to date: {0}', message));
}

function waitText(wait: NonNullable<RetryStatus['current']>): string {
  if (wait === 'slow') return l10n.t("The service hasn't answered for 10 seconds. Still waiting…");
  return wait.status === undefined
    ? l10n.t("The service isn't responding. Retrying…")
    : l10n.t('{0} Retrying…', statusMessage(wait.status));
}
