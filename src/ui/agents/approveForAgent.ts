/** Asks the user about a change of an agent. Its client may ask nothing, so the question is asked here, in the window. */
import { l10n } from 'vscode';
import { systemClock, type Clock } from '../../base/clock.ts';
import { sanitize } from '../../base/sanitize.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { AgentChange } from '../../model/agents/tools/toolCall.ts';
import { sizeText } from '../../model/inventory/computeStatus.ts';
import { approve, type ApprovalRequest } from '../notifications/approval.ts';
import { effectText, suspendText } from '../text/changeText.ts';
import { window } from '../window.ts';

/** The name of an agent as the user sees it. Agents choose it themselves. */
export const agentName = (agent: string): string => sanitize(agent, 40) || l10n.t('An agent');

/** Milliseconds that a call waits for the user's answer, because clients give up as well. */
const MAX_WAIT = 60_000;

/** The last question of a window. Agents may send many calls at once, and their questions wait for each other. */
const questions = new WeakMap<Guards, Promise<unknown>>();

/** @throws {Error} for the agent if the user doesn't approve the change. @throws {ReadOnlyError} */
export async function approveForAgent(
  { guards, clock = systemClock }: { readonly guards: Guards; readonly clock?: Clock },
  change: ApprovalRequest,
  initialConnection: AccountConnection,
  signal: AbortSignal,
): Promise<void> {
  const isAsked = change.detail !== undefined || guards.cachedMark(change) === 'production';
  const { promise: ended, resolve: end } = Promise.withResolvers<'late' | 'aborted'>();
  let hasEnded = signal.aborted;
  const ask = async () => {
    if (isAsked) await questions.get(guards);
    if (hasEnded) return false;
    const isApproved = await approve(guards, change, initialConnection);
    if (isApproved && hasEnded)
      void window.showInformationMessage(
        l10n.t('The agent no longer waits for the answer. Nothing was changed.'),
      );
    return isApproved;
  };
  const approved = ask();
  const answered = approved.catch(() => undefined);
  if (isAsked) questions.set(guards, answered);
  const timer = clock.after(MAX_WAIT, () => end('late'));
  const abort = () => end('aborted');
  signal.addEventListener('abort', abort);
  try {
    const answer = await Promise.race([approved, ended]);
    if (answer === 'late') throw new Error('The user did not answer within 60 seconds. Nothing was changed.');
    if (answer !== true) throw new Error('The user did not approve this. Nothing was changed.');
  } finally {
    hasEnded = true;
    timer.dispose();
    signal.removeEventListener('abort', abort);
  }
}

/** The question about a change, with its consequences. */
export function approvalRequest(change: AgentChange): ApprovalRequest {
  const { name } = change;
  const agent = agentName(change.agent);
  const uninterrupted = l10n.t('No connections are interrupted.');
  const ofCompute = (question: string, button: string, detail = ''): ApprovalRequest => ({
    ...change,
    question,
    button,
    detail: l10n.t('{0} asks for this. {1}', agent, detail),
  });
  switch (change.kind) {
    case 'reset':
      return {
        ...change,
        question: l10n.t('Let {0} reset {1} from {2}?', agent, name, change.parent),
        detail: l10n.t(
          "This can't be undone. Its data, roles and passwords are replaced with the current ones of its parent. Its active computes are restarted, and their connections are dropped.",
        ),
        button: l10n.t('Reset'),
      };
    case 'delete':
      return {
        ...change,
        question: l10n.t('Let {0} delete {1}?', agent, name),
        detail: l10n.t("This can't be undone. Its data is deleted."),
        button: l10n.t('Delete'),
      };
    case 'create':
      return {
        ...change,
        question: l10n.t('Let {0} create a branch in {1}?', agent, name),
        detail:
          change.branches === undefined
            ? undefined
            : l10n.t('Agents already have {0} branches in this project.', change.branches),
        button: l10n.t('Create'),
      };
    case 'start':
      return ofCompute(l10n.t('Start {0}?', name), l10n.t('Start'), uninterrupted);
    case 'suspend': {
      const detail = change.connections === 0 ? uninterrupted : suspendText(change.connections);
      return ofCompute(l10n.t('Suspend {0}?', name), l10n.t('Suspend'), detail);
    }
    case 'restart':
      return ofCompute(l10n.t('Restart {0}?', name), l10n.t('Restart'), effectText('restart'));
    case 'resize': {
      const question = l10n.t('Change the size of {0} to {1}?', name, sizeText(change.size));
      return ofCompute(question, l10n.t('Change Size'), effectText('restart'));
    }
    default:
      return change satisfies never;
  }
}
