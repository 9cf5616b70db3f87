/** Create Compute…: asks only what isn't clear from the project or branch that the command is started from. */
import { l10n } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { isPrimary } from '../../inventory/computeStatus.ts';
import { asBranchNode, asProjectNode, computeNodeOf } from '../../inventory/nodes.ts';
import { branchLabel } from '../../inventory/ui/branchText.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { displayName } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { askInSteps, type Question } from '../../window/ui/input/multiStepInput.ts';
import { askForProject, currentBranch, onlyProject } from '../../commandSupport/pickers.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { autosuspendQuestion, askSize } from './computeQuestions.ts';
import { branchQuestion } from '../../commandSupport/branchPicker.ts';
import { projectName } from '../../inventory/names.ts';

type ComputeType = ComputeCreation['type'];

export const createCompute: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't create the compute");
  const answers = await askForCreation(context, argument);
  if (answers === undefined) return;
  const { projectId, creation } = answers;
  const name = projectName(context.inventory, projectId);
  const branch = resourceText(context.inventory, { projectId, branchId: creation.branch_id });
  const created = await makeChange(context, run, {
    projectId,
    branchId: creation.branch_id,
    name,
    question: l10n.t('Create a compute on {0}?', branch),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a compute on {0}', branch),
    send: (options) => context.computeActions.create(projectId, creation, options),
    done: ({ compute }) =>
      compute && l10n.t('Created {0}', resourceText(context.inventory, computeNodeOf(compute))),
  });
  if (created?.compute !== undefined) await revealRow(context, computeNodeOf(created.compute));
};

interface CreationAnswers {
  readonly projectId: string;
  readonly creation: ComputeCreation;
}

async function askForCreation(
  context: CommandContext,
  argument: unknown,
): Promise<CreationAnswers | undefined> {
  const branch = asBranchNode(argument);
  const given = (branch ?? asProjectNode(argument))?.projectId ?? (await onlyProject(context));
  return await askInSteps(l10n.t('Create Compute'), async (ask) => {
    const projectId = given ?? (await askForProject(context, ask, { following: 4 }));
    const current = currentBranch(context, projectId);
    const branchId =
      branch?.branchId ?? (await ask(branchQuestion(context, { projectId, current }), { following: 3 }));
    const type = await ask(typeQuestion(context, projectId, branchId), { following: 2 });
    const { min, max } = await askSize(ask, undefined, { following: 1 });
    const autosuspend = await ask(autosuspendQuestion(undefined));
    const creation = {
      branch_id: branchId,
      type,
      autoscaling_limit_min_cu: min,
      autoscaling_limit_max_cu: max,
      suspend_timeout_seconds: autosuspend,
    };
    return { projectId, creation };
  });
}

/** Asks for the type. A branch has at most one primary, so a read replica comes first if there is one. */
function typeQuestion(context: CommandContext, projectId: string, branchId: string): Question<ComputeType> {
  const items = async () => {
    const list = await context.inventory.loadComputes(projectId);
    const primary = list?.branches().get(branchId)?.find(isPrimary);
    const [first, replica] = [primaryItem(primary && displayName(primary)), replicaItem()];
    return primary === undefined ? [first, replica] : [replica, first];
  };
  const label = branchLabel(branchId, context.inventory.branches.get(projectId, branchId));
  const placeholder = l10n.t('Select the type of the compute on {0}', label);
  return pickOne({ placeholder, items });
}

const replicaItem = (): Choice<ComputeType> => ({
  label: l10n.t('Read replica'),
  description: l10n.t('read-only, any number per branch'),
  value: 'read_only',
});

/** @param taken the label of the existing primary */
const primaryItem = (taken: string | undefined): Choice<ComputeType> => ({
  label: l10n.t('Primary'),
  description:
    taken === undefined
      ? l10n.t('read and write, one per branch')
      : l10n.t('not available: {0} is the primary of this branch', taken),
  value: taken === undefined ? 'read_write' : undefined,
});
