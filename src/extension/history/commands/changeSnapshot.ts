/** Renames, deletes and restores a snapshot that was picked in a list of moments. */
import { l10n } from 'vscode';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';
import { revealRow, makeChange } from '../../commandSupport/change.ts';
import type { PickedBranch } from '../../commandSupport/branchPicker.ts';
import type { CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { replaceBranchInEditors } from '../../database/commands/outdatedEditors.ts';
import { runGit } from '../../window/ui/git.ts';
import { branchMapWriter } from '../../gitBranch/branchMap.ts';
import { expiryAfter } from '../../branches/expiryTime.ts';
import { changeTexts } from '../../operations/ui/changeText.ts';
import { singleStep, type Question } from '../../window/ui/input/multiStepInput.ts';
import { enterText, nameProblem } from '../../window/ui/input/quickInput.ts';
import { createBranchOfSnapshot, deleteSnapshot, updateSnapshot } from '../snapshotActions.ts';
import { branchRefOf, type ChosenMoment } from './askForMoment.ts';

export const snapshotNameQuestion = (prompt: string, value = ''): Question<string> =>
  enterText({
    prompt,
    value,
    placeholder: l10n.t('such as before the clean-up'),
    problem: nameProblem,
  });

export async function changeSnapshot(
  context: CommandContext,
  run: CommandRun,
  { projectId, branchId, fullName }: PickedBranch,
  { kind, snapshot }: NonNullable<ChosenMoment['change']>,
): Promise<void> {
  const target = { projectId, branchId, name: snapshot.text };
  const snapshotName = l10n.t('the snapshot {0} of {1}', snapshot.text, fullName);
  if (kind === 'delete') {
    run.failureMessage = l10n.t("Couldn't delete {0}", snapshotName);
    await makeChange(context, run, {
      ...target,
      question: l10n.t('Delete {0}?', snapshotName),
      isLoss: true,
      detail: l10n.t('Its data is deleted.'),
      button: l10n.t('Delete'),
      ...changeTexts('delete', snapshotName),
      send: (options) => deleteSnapshot(context, projectId, snapshot, options),
    });
    return;
  }
  run.failureMessage = l10n.t("Couldn't rename {0}", snapshotName);
  const question = snapshotNameQuestion(l10n.t('Name of the snapshot'), snapshot.text);
  const name = await singleStep(l10n.t('Rename Snapshot'), question);
  if (name === undefined || name === snapshot.text) return;
  await makeChange(context, run, {
    ...target,
    question: l10n.t('Rename {0}?', snapshotName),
    button: l10n.t('Rename'),
    progress: l10n.t('Renaming {0}', snapshotName),
    done: l10n.t('Renamed {0} to {1}', snapshotName, name),
    send: (options) => updateSnapshot(context, projectId, snapshot, { name }, options),
  });
}

interface NewBranch {
  readonly snapshotId: string;
  readonly name: string;
  /** The seconds after which the branch expires; 0 for one that never does. */
  readonly lifetime: number;
}

/** Create Branch from a Time… with a snapshot: a branch with its data and a primary compute. */
export async function createFromSnapshot(
  context: CommandContext,
  run: CommandRun,
  picked: PickedBranch,
  { lifetime, ...branch }: NewBranch,
): Promise<void> {
  const { projectId, fullName } = picked;
  const { branchActions, computeActions, inventory } = context;
  const result = await makeChange(context, run, {
    ...picked,
    question: l10n.t('Create a branch of {0}?', fullName),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a branch of {0}', fullName),
    done: l10n.t('Created {0}', branch.name),
    send: async (options) => {
      const created = await createBranchOfSnapshot(context, branchRefOf(context, picked), branch, options);
      const branchId = created.branch?.id;
      if (branchId === undefined) return created;
      run.failureMessage = l10n.t("Created {0}, but couldn't set its expiry", branch.name);
      if (lifetime > 0)
        await branchActions.update({ projectId, branchId }, { expires_at: expiryAfter(lifetime) }, options);
      run.failureMessage = l10n.t("Created {0}, but couldn't create its compute", branch.name);
      // Some services create a compute with the branch.
      await inventory.refreshComputes(projectId);
      const [compute] = inventory.computesOf(projectId)?.branches().get(branchId) ?? [];
      if (compute !== undefined) return { ...created, compute };
      const { compute: added } = await computeActions.create(
        projectId,
        { branch_id: branchId, type: 'read_write' },
        options,
      );
      return { ...created, compute: added };
    },
  });
  if (result?.branch === undefined) return;
  const { branch: created, compute } = result;
  await revealRow(context, { projectId, branchId: created.id, computeId: compute?.id });
}

/** Replaces the id of a branch wherever it is remembered, because a restored branch has another id. */
export async function replaceRememberedId(
  context: CommandContext,
  from: BranchRef,
  to: BranchRef,
): Promise<void> {
  const { workFolders, agentBranches, log } = context;
  replaceBranchInEditors(context, from, to);
  const made = agentBranches.find(from);
  if (made !== undefined) agentBranches.add({ ...made, ...to });
  // Worktrees of a repository share its map.
  const maps = new Map(
    workFolders.states.map(({ repository, map }) => [repository?.commonDir, { repository, map }]),
  );
  for (const { repository, map } of maps.values()) {
    if (repository === undefined) continue;
    const writer = branchMapWriter(runGit, repository.worktree);
    try {
      for (const [gitBranch, ref] of map.branches)
        if (isSameBranch(from, ref)) await writer.setBranch(gitBranch, to);
      for (const created of map.created)
        if (isSameBranch(from, created)) await writer.addCreated({ ...created, ...to });
      if (isSameBranch(from, map.parent)) await writer.setParent(to);
    } catch (error) {
      log.error('Mapping a restored branch', error);
    }
  }
  workFolders.refresh();
}
