/** Create Compute…. Skips the questions that are answered by the project or branch it is started from. */
import { l10n } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { isPrimary, labelOf } from '../../../model/inventory/computeStatus.ts';
import { asBranchNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { branchLabel } from '../../text/branchText.ts';
import { nameOrId, sanitize } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../change.ts';
import type { Command, CommandContext } from '../context.ts';
import { runSteps, valueStep, type Answer, type StepPosition, type Step } from '../input/multiStepInput.ts';
import { currentBranch, inProject, onlyProject, projectStep, requireConnection } from '../input/pickers.ts';
import { pickOne, type Choice } from '../input/quickInput.ts';
import { askAutosuspend, sizeSteps, type SizeState } from './computeQuestions.ts';
import { askBranch } from '../input/branchPicker.ts';

type ComputeType = ComputeCreation['type'];

interface CreationState extends SizeState {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly type?: ComputeType;
  readonly autosuspend?: number;
}

export const create: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't create the compute");
  const start: CreationState = {
    projectId: (asProjectNode(argument) ?? asBranchNode(argument))?.projectId ?? (await onlyProject(context)),
    branchId: asBranchNode(argument)?.branchId,
  };
  const answers = (await runSteps(l10n.t('Create Compute'), start, createSteps(context))) ?? {};
  const creation = creationOf(answers);
  const { projectId } = answers;
  if (projectId === undefined || creation === undefined) return;
  const name = nameOrId(context.inventory.project(projectId)?.name, projectId);
  const created = await makeChange(context, run, {
    projectId,
    branchId: creation.branch_id,
    name,
    question: l10n.t('Create a compute in {0}?', name),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a compute'),
    send: (options) => context.computeActions.create(projectId, creation, options),
    done: ({ compute }) => compute && l10n.t('Created {0}', nameOrId(compute.name, compute.id)),
  });
  if (created?.compute === undefined) return;
  const { id: computeId, branch_id: branchId } = created.compute;
  await revealRow(context, { kind: 'compute', projectId, branchId, computeId });
};

function creationOf({ branchId, type, size, autosuspend }: CreationState): ComputeCreation | undefined {
  if (branchId === undefined || type === undefined || size === undefined) return undefined;
  return {
    branch_id: branchId,
    type,
    autoscaling_limit_min_cu: size.min,
    autoscaling_limit_max_cu: size.max,
    ...(autosuspend === undefined ? {} : { suspend_timeout_seconds: autosuspend }),
  };
}

const createSteps = (context: CommandContext): readonly Step<CreationState>[] => [
  projectStep(context),
  valueStep(
    'branchId',
    inProject((position, { projectId }) =>
      askBranch(context, position, { projectId, current: currentBranch(context, projectId) }),
    ),
  ),
  valueStep(
    'type',
    inProject((position, state) => askType(context, position, state)),
  ),
  ...sizeSteps<CreationState>(() => undefined),
  valueStep('autosuspend', (position) => askAutosuspend(position, undefined)),
];

/** A branch has at most one primary (section 8). */
async function askType(
  context: CommandContext,
  position: StepPosition,
  { projectId, branchId }: { readonly projectId: string; readonly branchId?: string | undefined },
): Promise<Answer<ComputeType>> {
  if (branchId === undefined) return undefined;
  const items = async () => {
    const list = await context.inventory.loadComputes(projectId);
    const primary = list?.branches().get(branchId)?.find(isPrimary);
    const [first, replica] = [primaryItem(primary && sanitize(labelOf(primary))), replicaItem()];
    return primary === undefined ? [first, replica] : [replica, first];
  };
  const label = branchLabel(branchId, context.inventory.branches.get(projectId, branchId));
  const placeholder = l10n.t('Select the type of the compute on {0}', label);
  return await pickOne(position, { placeholder, items: items() });
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
