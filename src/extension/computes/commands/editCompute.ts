/** Edit Compute…: asks what to change and the new value, confirms the consequences, and sends only what differs. */
import { commands, l10n, ThemeIcon, Uri } from 'vscode';
import { AUTOSUSPEND_DEFAULT } from '../../../api/rules/autosuspendDelay.ts';
import { MAX_SHORT_NAME_LENGTH } from '../../../api/rules/nameLength.ts';
import {
  hasNoConnections,
  changeEffect,
  type ComputeChangeEffect,
  type OpenConnections,
} from '../../../api/records/effects.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { ComputePatch } from '../../../api/records/requests.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { isPrimary, computeSizeRange } from '../../inventory/computeStatus.ts';
import { asComputeNode, computeNodeOf } from '../../inventory/nodes.ts';
import { omitUnchanged } from '../computeActions.ts';
import { settingsUri } from '../settings/pgSettings.ts';
import { postgresSettings } from '../../inventory/computeStatus.ts';
import { announce } from '../../window/ui/announce.ts';
import { requireWritable } from '../../operations/ui/approval.ts';
import { branchLabel } from '../../inventory/ui/branchText.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { branchTitle, documentTitle } from '../../inventory/names.ts';
import { sizeText } from '../../inventory/ui/sizeText.ts';
import { changeTexts, effectText } from '../../operations/ui/changeText.ts';
import { autosuspendText } from '../../window/ui/timeText.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { branchQuestion } from '../../commandSupport/branchPicker.ts';
import { askInSteps, type Ask, type Question } from '../../window/ui/input/multiStepInput.ts';
import { askForCompute, requireCompute } from '../../commandSupport/pickers.ts';
import { enterText, nameProblem, pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { autosuspendQuestion, askSize } from './computeQuestions.ts';

export const editCompute: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't edit the compute");
  const answers = await askForEdit(context, argument);
  if (answers === undefined) return;
  const name = displayName(answers.compute);
  const fullName = resourceText(context.inventory, computeNodeOf(answers.compute));
  run.failureMessage = l10n.t("Couldn't change {0}", fullName);
  if (answers.change === undefined) return await openSettings(context, answers.compute);
  const { project_id: projectId, id: computeId } = answers.compute;
  // The record may have been refreshed during the questions.
  const current = context.inventory.compute(projectId, computeId) ?? answers.compute;
  const change = omitUnchanged(current, answers.change);
  if (change === undefined) return announce(l10n.t('Nothing to change on {0}', fullName), 'info');
  const node = computeNodeOf(current);
  const edited = editedText(current, change);
  await makeChange(context, run, {
    ...node,
    name,
    ...approvalTexts(context, current, change),
    toBranchId: change.branch_id,
    ...changeTexts('edit', fullName, edited),
    send: (options) => context.computeActions.update(node, change, { ...options, edited }),
  });
};

/** Returns the new size or delay as text; undefined for a change that the user has seen in its question. */
function editedText(compute: Compute, change: ComputePatch): string | undefined {
  if (change.suspend_timeout_seconds !== undefined)
    return l10n.t('autosuspend {0}', autosuspendText(change.suspend_timeout_seconds));
  return change.autoscaling_limit_max_cu === undefined ? undefined : sizeText({ ...compute, ...change });
}

/** Returns the texts of the confirmation. It is asked for only if connections are affected, or in production. */
function approvalTexts({ inventory }: CommandContext, compute: Compute, change: ComputePatch) {
  const { project_id: projectId, id: computeId } = compute;
  const branchId = change.branch_id ?? compute.branch_id;
  const branch = branchTitle(branchId, inventory.branches.get(projectId, branchId));
  const effect = changeEffect(compute, change);
  const size = sizeText({ ...compute, ...change });
  const name = resourceText(inventory, computeNodeOf(compute));
  const texts: Record<ComputeChangeEffect, { readonly question: string; readonly button: string }> = {
    disable: { question: l10n.t('Disable {0}?', name), button: l10n.t('Disable') },
    move: { question: l10n.t('Move {0} to {1}?', name, branch), button: l10n.t('Move') },
    restart: {
      question: l10n.t('Change the size of {0} to {1}?', name, size),
      button: l10n.t('Change and Restart'),
    },
    none: { question: l10n.t('Change {0}?', name), button: l10n.t('Change') },
  };
  return {
    ...texts[effect],
    drops: effect === 'none' ? undefined : [{ projectId, computeId }],
    reconnects: effect === 'restart',
    detail: (connections: OpenConnections) => consequenceText(effect, connections, branch),
  };
}

/** Returns what the user should know of a change. Disabling a compute has consequences even without connections. */
function consequenceText(
  effect: ComputeChangeEffect,
  connections: OpenConnections,
  toBranch: string,
): string | undefined {
  if (connections === 'idle' && effect !== 'disable') return undefined;
  if (connections === 0 && effect === 'restart') return undefined;
  return effectText(effect, { connections: hasNoConnections(connections) ? 0 : connections, toBranch });
}

async function openSettings({ session, inventory }: CommandContext, compute: Compute): Promise<void> {
  const account = session.connection?.account;
  if (account === undefined) return;
  const node = computeNodeOf(compute);
  const uri = Uri.from(settingsUri(account, node, documentTitle(inventory, node)));
  await commands.executeCommand('vscode.open', uri);
}

type Edited = 'size' | 'autosuspend' | 'branch' | 'pooler' | 'disabled' | 'name' | 'settings';

interface EditAnswers {
  /** The compute as the user saw it. */
  readonly compute: Compute;
  /** Undefined to edit the Postgres settings, which are a document. */
  readonly change: ComputePatch | undefined;
}

/** Returns undefined if the user canceled. @throws {ApiError} */
async function askForEdit(context: CommandContext, argument: unknown): Promise<EditAnswers | undefined> {
  const given = asComputeNode(argument);
  if (given !== undefined) await requireCompute(context, given);
  const question = { placeholder: l10n.t('Select a compute'), following: 2 };
  const answers = await askInSteps(l10n.t('Edit Compute'), async (ask) => {
    const node = given ?? (await askForCompute(context, ask, question));
    requireWritable(context.guards, node);
    const compute = await requireCompute(context, node);
    const edited = await ask(editQuestion(context, compute), { following: 1 });
    return { compute, change: await askForChange(context, ask, compute, edited) };
  });
  if (answers !== undefined) await context.lastCompute.remember(computeNodeOf(answers.compute));
  return answers;
}

/** Returns undefined for the Postgres settings. */
async function askForChange(
  context: CommandContext,
  ask: Ask,
  compute: Compute,
  edited: Edited,
): Promise<ComputePatch | undefined> {
  switch (edited) {
    case 'size': {
      const { min, max } = await askSize(ask, computeSizeRange(compute));
      return { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max };
    }
    case 'autosuspend': {
      const current = compute.suspend_timeout_seconds ?? AUTOSUSPEND_DEFAULT;
      return { suspend_timeout_seconds: await ask(autosuspendQuestion(current)) };
    }
    case 'branch':
      return { branch_id: await ask(targetQuestion(context, compute)) };
    case 'name':
      return { name: await ask(computeNameQuestion(context, compute)) };
    case 'pooler':
      return { pooler_enabled: compute.pooler_enabled !== true };
    case 'disabled':
      return { disabled: compute.disabled !== true };
    case 'settings':
      return undefined;
    default:
      return edited satisfies never;
  }
}

function editQuestion({ inventory }: CommandContext, compute: Compute): Question<Edited> {
  const { project_id: projectId, branch_id: branchId } = compute;
  const branch = branchLabel(branchId, inventory.branches.get(projectId, branchId));
  const placeholder = l10n.t('Select what to change on {0}', resourceText(inventory, computeNodeOf(compute)));
  const items = editItems(compute, branch);
  return pickOne({ placeholder, items });
}

function editItems(compute: Compute, branch: string): Choice<Edited>[] {
  const isPooled = compute.pooler_enabled === true;
  const isDisabled = compute.disabled === true;
  const settings = Object.entries(postgresSettings(compute)).map(([name, value]) => `${name} = ${value}`);
  return [
    item('size', 'dashboard', l10n.t('Size…'), sizeText(compute)),
    item('autosuspend', 'clock', l10n.t('Autosuspend…'), autosuspendText(compute.suspend_timeout_seconds)),
    item(
      'settings',
      'settings',
      l10n.t('Postgres Settings…'),
      sanitize(settings.join(', ')) || l10n.t('none'),
    ),
    item('branch', 'git-branch', l10n.t('Move to Another Branch…'), branch),
    item('name', 'tag', l10n.t('Name…'), sanitize(compute.name ?? '') || l10n.t('none')),
    isPooled
      ? item('pooler', 'plug', l10n.t('Turn Pooled Connections Off'), l10n.t('on'))
      : item('pooler', 'plug', l10n.t('Turn Pooled Connections On'), l10n.t('off')),
    isDisabled
      ? item('disabled', 'play', l10n.t('Enable'), l10n.t('disabled'))
      : item('disabled', 'circle-slash', l10n.t('Disable…'), l10n.t('enabled')),
  ];
}

const item = (edited: Edited, icon: string, label: string, current: string): Choice<Edited> => ({
  label,
  iconPath: new ThemeIcon(icon),
  description: current,
  value: edited,
});

/** A primary can't move to a branch that has one. Read replicas can move anywhere. */
function targetQuestion(context: CommandContext, compute: Compute): Question<string> {
  const problem = (branchId: string, computes: readonly Compute[]) => {
    if (branchId === compute.branch_id) return l10n.t('current branch');
    const primary = isPrimary(compute) ? computes.find(isPrimary) : undefined;
    return primary && l10n.t('not available: {0} is the primary of this branch', displayName(primary));
  };
  return branchQuestion(context, { projectId: compute.project_id, problem });
}

const computeNameQuestion = ({ inventory }: CommandContext, compute: Compute): Question<string> =>
  enterText({
    prompt: l10n.t('New name of {0}', resourceText(inventory, computeNodeOf(compute))),
    value: compute.name ?? '',
    problem: (text) => nameProblem(text, MAX_SHORT_NAME_LENGTH),
  });
