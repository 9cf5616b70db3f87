/** Create Snapshot…: keeps the data of a branch, beyond its history. Undo… and Create Branch from a Time… offer it. */
import { l10n } from 'vscode';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { createSnapshot as create } from '../snapshotActions.ts';
import { branchArgument, branchRefOf } from './askForMoment.ts';
import { snapshotNameQuestion } from './changeSnapshot.ts';

export const createSnapshot: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't create the snapshot");
  const title = l10n.t('Create Snapshot');
  const picked = await pickBranch(context, title, branchArgument(context, argument));
  if (picked === undefined) return;
  const { fullName: branch } = picked;
  const name = await singleStep(title, snapshotNameQuestion(l10n.t('Name of the snapshot of {0}', branch)));
  if (name === undefined) return;
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Create a snapshot of {0}?', branch),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a snapshot of {0}', branch),
    send: (options) => create(context, branchRefOf(context, picked), name, options),
    done: l10n.t('Created the snapshot {0}. Use Undo… to go back to it.', name),
  });
};
