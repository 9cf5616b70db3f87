/** Restart, start, suspend and delete computes. Not every service can start and suspend them on request. */
import { l10n } from 'vscode';
import { hasNoConnections } from '../../../api/records/effects.ts';
import type { Compute } from '../../../api/records/records.ts';
import { loadedComputes } from '../../inventory/branchStatus.ts';
import { computeStatus } from '../../inventory/computeStatus.ts';
import { asComputeNode } from '../../inventory/nodes.ts';
import { changeTexts, effectText, suspendText } from '../../operations/ui/changeText.ts';
import { makeChange, neighborId, revealRow } from '../../commandSupport/change.ts';
import type { Command } from '../../commandSupport/context.ts';
import { pickCompute } from '../../commandSupport/pickers.ts';

/** A state that isn't in the specification counts as running. */
const isRunning = (compute: Compute): boolean => ['active', 'unknown'].includes(computeStatus(compute));
const isIdle = (compute: Compute): boolean => computeStatus(compute) === 'idle';
const isActive = (compute: Compute): boolean => computeStatus(compute) === 'active';

export const restartCompute: Command = async (context, argument, run) => {
  const offered = { canPick: isRunning, none: l10n.t('No compute is running.') };
  const node = await pickCompute(context, l10n.t('Restart Compute'), argument, offered);
  if (node === undefined) return;
  const { fullName } = node;
  run.failureMessage = l10n.t("Couldn't restart {0}", fullName);
  await makeChange(context, run, {
    ...node,
    question: l10n.t('Restart {0}?', fullName),
    drops: [node],
    detail: (connections) =>
      hasNoConnections(connections) ? undefined : effectText('restart', { connections }),
    button: l10n.t('Restart'),
    ...changeTexts('restart', fullName),
    send: (options) => context.computeActions.restart(node, options),
  });
};

/** Asks for confirmation only in production and on protected branches, because starting interrupts nothing. */
export const startCompute: Command = async (context, argument, run) => {
  const offered = { canPick: isIdle, none: l10n.t('No compute is idle.') };
  const node = await pickCompute(context, l10n.t('Start Compute'), argument, offered);
  if (node === undefined) return;
  const { fullName } = node;
  run.failureMessage = l10n.t("Couldn't start {0}", fullName);
  await makeChange(context, run, {
    ...node,
    question: l10n.t('Start {0}?', fullName),
    button: l10n.t('Start'),
    ...changeTexts('start', fullName),
    send: (options) => context.computeActions.start(node, options),
  });
};

export const suspendCompute: Command = async (context, argument, run) => {
  const offered = { canPick: isActive, none: l10n.t('No compute is active.') };
  const node = await pickCompute(context, l10n.t('Suspend Compute'), argument, offered);
  if (node === undefined) return;
  const { fullName } = node;
  run.failureMessage = l10n.t("Couldn't suspend {0}", fullName);
  await makeChange(context, run, {
    ...node,
    question: l10n.t('Suspend {0}?', fullName),
    drops: [node],
    detail: (connections) => (hasNoConnections(connections) ? undefined : suspendText(connections)),
    button: l10n.t('Suspend'),
    ...changeTexts('suspend', fullName),
    send: (options) => context.computeActions.suspend(node, options),
  });
};

export const deleteCompute: Command = async (context, argument, run) => {
  const node = await pickCompute(context, l10n.t('Delete Compute'), argument);
  if (node === undefined) return;
  const { fullName } = node;
  run.failureMessage = l10n.t("Couldn't delete {0}", fullName);
  await makeChange(context, run, {
    ...node,
    question: l10n.t('Delete {0}?', fullName),
    isLoss: true,
    detail: l10n.t(
      'Its connections are dropped and its host stops responding. The data stays on the branch.',
    ),
    drops: [node],
    reconnects: false,
    button: l10n.t('Delete'),
    ...changeTexts('delete', fullName),
    send: (options) => {
      // Deleting the selected row would move the keyboard focus to the top of the tree. So another row is selected before this one
      // disappears. Afterwards, the user may have selected a row.
      const siblings = asComputeNode(argument) && loadedComputes(context.inventory, node);
      const neighbor = siblings && neighborId(siblings, node.computeId);
      if (neighbor !== undefined) void revealRow(context, { projectId: node.projectId, computeId: neighbor });
      return context.computeActions.delete(node, options);
    },
  });
};
