/**
 * Asks the user about a change of an agent. The agent's client may ask nothing, so this window asks. The question comes while the user
 * does something else, so it is a notification: a dialog would take the next key as its answer.
 */
import { l10n } from 'vscode';
import { endedSlotsMessage } from '../../../api/rules/endedSlots.ts';
import { systemClock, type Clock } from '../../../base/clock.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { ComputeIds } from '../../account/refs.ts';
import type { ChangeGuards } from '../../operations/guards.ts';
import type { AgentChange, ComputeChange } from '../tools/toolCall.ts';
import { loadedComputes } from '../../inventory/branchStatus.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import {
  approveChange,
  consequencesText,
  detailWithPsql,
  requireWritable,
  type ApprovalRequest,
} from '../../operations/ui/approval.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { keptUntil } from '../../history/undoBranch.ts';
import { agentName } from '../../inventory/ui/agentText.ts';
import { branchLabel, deletionText, undoConsequencesText } from '../../inventory/ui/branchText.ts';
import { effectText, suspendText } from '../../operations/ui/changeText.ts';
import { idWithName } from '../../window/ui/idAndName.ts';
import { sizeText } from '../../inventory/ui/sizeText.ts';
import { window } from '../../window/ui/window.ts';

/** The most milliseconds for which a call waits for the user's answer. Clients give up after a while, too. */
const APPROVAL_WAIT = 60_000;

/** Resolves when all questions of a window so far are over. Agents may send many calls at once, and each question waits for this. */
const questions = new WeakMap<ChangeGuards, Promise<unknown>>();

interface AgentRequest extends ApprovalRequest {
  /** Whether the agent only reads. Then the user enters no name in production, and what is marked as read-only may be read. */
  readonly isReading?: boolean;
}

/** @throws {Error} with a message for the agent if the user doesn't approve the change. @throws {ReadOnlyError} */
export async function approveForAgent(
  { guards, clock = systemClock }: { readonly guards: ChangeGuards; readonly clock?: Clock },
  change: AgentRequest,
  initialConnection: AccountConnection,
  signal: AbortSignal,
): Promise<void> {
  const isAsked = change.detail !== undefined || guards.cachedMark(change) === 'production';
  const { promise: ended, resolve: end } = Promise.withResolvers<'late' | 'aborted'>();
  let hasEnded = signal.aborted;
  const previous = isAsked ? questions.get(guards) : undefined;
  const ask = async () => {
    await previous;
    if (hasEnded) return false;
    if (change.isReading !== true) requireWritable(guards, change);
    if (isAsked && !(await askInNotification(change))) return false;
    if (change.isReading === true) return true;
    // To approve a change in production, the user also enters the name.
    const request = { ...change, isConfirmed: isAsked };
    if (!hasEnded && !(await approveChange(guards, request, initialConnection))) return false;
    if (!hasEnded) return true;
    void window.showInformationMessage(
      l10n.t('The agent no longer waits for the answer. Nothing was changed.'),
    );
    return false;
  };
  const approved = ask();
  const answered = approved.catch(() => undefined);
  // VS Code hides a notification without an answer, so the user may never end it.
  const isOver = Promise.race([answered, ended]);
  // A call that ends while it waits doesn't end the question before it, which is still shown.
  if (isAsked)
    questions.set(
      guards,
      Promise.all([previous, isOver]).then(() => undefined),
    );
  const stop = (reason: 'late' | 'aborted') => {
    hasEnded = true;
    end(reason);
  };
  const timer = clock.after(APPROVAL_WAIT, () => stop('late'));
  const abort = () => stop('aborted');
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    const answer = await Promise.race([approved, ended]);
    if (answer === 'late') throw new Error('The user did not answer within 60 seconds. Nothing was changed.');
    if (answer !== true) throw new Error('The user did not approve this. Nothing was changed.');
  } finally {
    timer.dispose();
    signal.removeEventListener('abort', abort);
  }
}

/** Returns whether the user chose the button of the change, and not another one or none. */
async function askInNotification(change: ApprovalRequest): Promise<boolean> {
  const { question, button } = change;
  const text = `${question} ${consequencesText({ ...change, detail: detailWithPsql(change) })}`.trim();
  return (await window.showWarningMessage(text, button, l10n.t('Reject'))) === button;
}

/** Returns the question about a change, with the consequences. It contains all by which the user recognizes the branch. */
export const approvalRequest = (inventory: Inventory, change: AgentChange): AgentRequest => ({
  ...questionAbout(inventory, change),
  drops: droppedComputes(inventory, change),
  reconnects: change.kind !== 'delete',
});

/** Returns the computes whose connections the change drops. */
function droppedComputes(inventory: Inventory, change: AgentChange): readonly ComputeIds[] {
  const { kind, projectId = '', branchId = '', computeId } = change;
  if (kind === 'read' || kind === 'create' || kind === 'start') return [];
  if (kind === 'suspend' && change.connections === 0) return [];
  if (computeId !== undefined) return [{ projectId, computeId }];
  return loadedComputes(inventory, { projectId, branchId }).map(computeNodeOf);
}

function questionAbout(inventory: Inventory, change: AgentChange): AgentRequest {
  const { projectId = '', branchId = '' } = change;
  const agent = agentName(change.agent);
  const project = idWithName(projectId, inventory.project(projectId)?.name);
  const branch = branchLabel(branchId, inventory.branches.get(projectId, branchId));
  switch (change.kind) {
    case 'read':
      return { ...change, ...readingQuestion(agent, branch, project, change.sql) };
    case 'reset':
      return {
        ...change,
        question: l10n.t(
          'Let {0} reset the branch {1} of {2} from {3}?',
          agent,
          branch,
          project,
          change.parent,
        ),
        detail: detailWithSlots(
          l10n.t(
            'Its data and roles are replaced with the current ones of its parent. Its active computes are restarted, and their connections are dropped.',
          ),
          change.slots,
        ),
        isLoss: true,
        button: l10n.t('Reset'),
      };
    case 'undo':
      return {
        ...change,
        question: l10n.t(
          'Let {0} take the branch {1} of {2} back to {3}?',
          agent,
          branch,
          project,
          change.to,
        ),
        detail: detailWithSlots(
          undoConsequencesText(change.preserved, keptUntil(inventory, { projectId, branchId })),
          change.slots,
        ),
        button: l10n.t('Undo'),
      };
    case 'delete':
      return {
        ...change,
        question: l10n.t('Let {0} delete the branch {1} of {2}?', agent, branch, project),
        detail: deletionText(inventory, { projectId, branchId }),
        isLoss: true,
        button: l10n.t('Delete'),
      };
    case 'create':
      return { ...change, ...creationQuestion(agent, project, change.limit?.count) };
    default: {
      const name = idWithName(change.computeId ?? '', change.name);
      const compute = l10n.t('{0} on the branch {1} of {2}', name, branch, project);
      return { ...change, ...computeQuestion(change, agent, compute) };
    }
  }
}

const detailWithSlots = (detail: string, slots: readonly string[]): string =>
  [detail, endedSlotsMessage(slots, l10n) ?? ''].join(' ').trim();

function creationQuestion(agent: string, project: string, existing: number | undefined) {
  return {
    question: l10n.t('Let {0} create a branch in {1}?', agent, project),
    detail:
      existing === undefined
        ? undefined
        : l10n.t('Agents already have {0} branches in this project.', existing),
    button: l10n.t('Create'),
  };
}

function readingQuestion(agent: string, branch: string, project: string, sql: string) {
  return {
    question: l10n.t('Let {0} read the branch {1} of {2}?', agent, branch, project),
    detail: l10n.t(
      "This starts the compute if it is idle. The agent reads with the rights of the database's owner, and so does the code of views and policies. It reads: {0}",
      sanitize(sql, sql.length),
    ),
    button: l10n.t('Read'),
    isReading: true,
  };
}

function computeQuestion(change: ComputeChange, agent: string, compute: string) {
  const uninterrupted = l10n.t('No connections are dropped.');
  switch (change.kind) {
    case 'start':
      return {
        question: l10n.t('Let {0} start {1}?', agent, compute),
        detail: uninterrupted,
        button: l10n.t('Start'),
      };
    case 'suspend':
      return {
        question: l10n.t('Let {0} suspend {1}?', agent, compute),
        detail: change.connections === 0 ? uninterrupted : suspendText(change.connections),
        button: l10n.t('Suspend'),
      };
    case 'restart':
      return {
        question: l10n.t('Let {0} restart {1}?', agent, compute),
        detail: effectText('restart'),
        button: l10n.t('Restart'),
      };
    case 'resize':
      return {
        question: l10n.t('Let {0} change the size of {1} to {2}?', agent, compute, sizeText(change.size)),
        detail: effectText('restart'),
        button: l10n.t('Change Size'),
      };
    default:
      return change satisfies never;
  }
}
