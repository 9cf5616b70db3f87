/** The commands in the menu of a snapshot's row. Undo… and Create Branch from a Time… list the same snapshots for the palette. */
import { l10n } from 'vscode';
import { branchNameQuestion } from '../../branches/commands/createBranch.ts';
import { lifetimeQuestion } from '../../branches/commands/expiry.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { asSnapshotNode } from '../../inventory/nodes.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { momentText } from '../ui/momentText.ts';
import { snapshotMoment, type SnapshotMoment } from '../moments.ts';
import { changeSnapshot, createFromSnapshot } from './changeSnapshot.ts';
import { restoreSnapshot } from './undo.ts';

type SnapshotCommand = (
  context: CommandContext,
  run: CommandRun,
  picked: PickedBranch,
  snapshot: SnapshotMoment,
) => Promise<void>;

/** Makes a command of the row. The command does nothing if the snapshot was deleted, because its row is then about to be removed. */
const snapshotCommand =
  (title: () => string, command: SnapshotCommand): Command =>
  async (context, argument, run) => {
    const node = asSnapshotNode(argument);
    const snapshot = node && context.inventory.snapshots.get(node.projectId, node.snapshotId);
    if (node === undefined || snapshot === undefined) return;
    const picked = await pickBranch(context, title(), { ...node, kind: 'branch' });
    if (picked !== undefined) await command(context, run, picked, snapshotMoment(node.branchId, snapshot));
  };

export const restoreSnapshotRow = snapshotCommand(
  () => l10n.t('Restore Snapshot'),
  async (context, run, picked, snapshot) => {
    run.failureMessage = l10n.t("Couldn't restore {0}", picked.fullName);
    const { id: snapshotId, source, text: name } = snapshot;
    const question = l10n.t('Restore {0} to the snapshot {1}?', picked.fullName, sanitize(name, 80));
    await restoreSnapshot(context, run, picked, {
      snapshotId,
      source,
      text: momentText(snapshot, Date.now()),
      // The user is asked, because an item of a menu is chosen by mistake more easily than one of a list.
      ask: { question, button: l10n.t('Restore') },
    });
  },
);

export const createBranchFromSnapshot = snapshotCommand(
  () => l10n.t('Create Branch from Snapshot'),
  async (context, run, picked, { id: snapshotId, text }) => {
    run.failureMessage = l10n.t("Couldn't create the branch");
    const answers = await askInSteps(l10n.t('Create Branch from Snapshot'), async (ask) => {
      const prompt = l10n.t('Name of the new branch from the snapshot {0}', text);
      const name = await ask(branchNameQuestion(picked.list, { prompt, value: '' }), { following: 1 });
      return { snapshotId, name, lifetime: await ask(lifetimeQuestion()) };
    });
    if (answers !== undefined) await createFromSnapshot(context, run, picked, answers);
  },
);

const changeSnapshotCommand = (kind: 'rename' | 'delete', title: () => string): Command =>
  snapshotCommand(title, (context, run, picked, snapshot) =>
    changeSnapshot(context, run, picked, { kind, snapshot }),
  );

export const renameSnapshot = changeSnapshotCommand('rename', () => l10n.t('Rename Snapshot'));
export const deleteSnapshotRow = changeSnapshotCommand('delete', () => l10n.t('Delete Snapshot'));
