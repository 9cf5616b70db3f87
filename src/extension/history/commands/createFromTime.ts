/** Create Branch from a Time…: a branch with earlier data of another one, to look at it or to take rows from it. */
import { l10n } from 'vscode';
import { branchNameQuestion, createBranchIn } from '../../branches/commands/createBranch.ts';
import { explainExpiry, lifetimeQuestion } from '../../branches/commands/expiry.ts';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import { revealRow } from '../../commandSupport/change.ts';
import type { Command } from '../../commandSupport/context.ts';
import { expiryAfter } from '../../branches/expiryTime.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { window } from '../../window/ui/window.ts';
import { schemaChangesLoader } from '../momentChanges.ts';
import { listMoments } from '../moments.ts';
import { parentRequestFields } from '../../account/refs.ts';
import { removeExpiryForCopy } from '../undoBranch.ts';
import { askForMoment, branchArgument, loadHistory, needsNoHistory } from './askForMoment.ts';
import { createFromSnapshot } from './changeSnapshot.ts';
import { timeProblemText } from './undo.ts';

export const createBranchFromTime: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't create the branch");
  const title = l10n.t('Create Branch from a Time');
  const picked = await pickBranch(context, title, branchArgument(context, argument));
  if (picked === undefined || (await explainExpiry(picked))) return;
  const { fullName: parent, projectId, list } = picked;
  const history = await loadHistory(context, picked, { withSnapshots: true });
  const onlyUndo = history.retention === 0;
  if (onlyUndo && !listMoments(history).some(needsNoHistory))
    return void (await window.showWarningMessage(timeProblemText('noHistory', parent)));
  const answers = await askInSteps(title, async (ask) => {
    const placeholder = l10n.t('Select a moment of {0}, or type a time', parent);
    const readSchema = onlyUndo ? undefined : schemaChangesLoader(context, history.ref);
    const question = { placeholder, schemaChanges: readSchema, onlyUndo, following: 2 };
    const { source } = await askForMoment(ask, history, question);
    const prompt = l10n.t('Name of the new branch of {0}', parent);
    const name = await ask(branchNameQuestion(list, { prompt, value: '' }), { following: 1 });
    return { source, name, lifetime: await ask(lifetimeQuestion()) };
  });
  if (answers === undefined) return;
  const { source, name, lifetime } = answers;
  const { snapshotId } = source;
  if (snapshotId !== undefined)
    return await createFromSnapshot(context, run, picked, { snapshotId, name, lifetime });
  const expiry = lifetime === 0 ? {} : { expires_at: expiryAfter(lifetime) };
  const creation = {
    branch: { name, ...parentRequestFields(source), ...expiry },
    endpoints: [{ type: 'read_write' as const }],
  };
  // The parent may be a branch that an undo has kept. Such a branch expires, and can't be a parent until its expiry is removed.
  const created = await createBranchIn(context, run, projectId, creation, (options) =>
    removeExpiryForCopy(context, { projectId, branchId: source.branchId }, options),
  );
  const [compute] = created?.computes ?? [];
  if (created?.branch !== undefined)
    await revealRow(context, { projectId, branchId: created.branch.id, computeId: compute?.id });
};
