/** The questions before a compute is created. Started from a project or branch, they skip what is known. */
import { l10n } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { asBranchNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { askAutosuspend } from './autosuspendQuestion.ts';
import { askBranch } from './branchQuestion.ts';
import { chooseProject } from '../input/pickers.ts';
import type { CommandContext } from '../context.ts';
import { answered, runFlow, type Step } from '../input/multiStepInput.ts';
import { sizeSteps, type KnownSize } from './sizeQuestions.ts';
import { askType, type ComputeType } from './typeQuestion.ts';

export interface WantedCompute {
  readonly projectId: string;
  readonly creation: ComputeCreation;
}

interface Known extends KnownSize {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly type?: ComputeType;
  readonly autosuspend?: number;
}

/** @returns undefined when the user gave up. @throws {ApiError} */
export async function askForCreation(
  context: CommandContext,
  argument: unknown,
): Promise<WantedCompute | undefined> {
  const start: Known = {
    projectId: (asProjectNode(argument) ?? asBranchNode(argument))?.projectId,
    branchId: asBranchNode(argument)?.branchId,
  };
  const known = await runFlow(l10n.t('Create Compute'), start, stepsOf(context));
  return known && wantedOf(known);
}

function wantedOf({ projectId, branchId, type, size, autosuspend }: Known): WantedCompute | undefined {
  if (projectId === undefined || branchId === undefined || type === undefined || size === undefined)
    return undefined;
  const creation: ComputeCreation = {
    branch_id: branchId,
    type,
    autoscaling_limit_min_cu: size.min,
    autoscaling_limit_max_cu: size.max,
    ...(autosuspend === undefined ? {} : { suspend_timeout_seconds: autosuspend }),
  };
  return { projectId, creation };
}

const stepsOf = (context: CommandContext): readonly Step<Known>[] => [
  {
    applies: (known) => known.projectId === undefined,
    ask: async (page, known) =>
      answered(await chooseProject(context, page), (projectId) => ({ ...known, projectId })),
  },
  {
    applies: (known) => known.branchId === undefined,
    ask: async (page, known) => {
      const branch = await askBranch(context, page, { projectId: known.projectId ?? '' });
      return answered(branch, (branchId) => ({ ...known, branchId }));
    },
  },
  {
    applies: (known) => known.type === undefined,
    ask: async (page, known) => {
      const { projectId = '', branchId = '' } = known;
      return answered(await askType(context, page, { projectId, branchId }), (type) => ({ ...known, type }));
    },
  },
  ...sizeSteps<Known>(() => undefined),
  {
    applies: (known) => known.autosuspend === undefined,
    ask: async (page, known) =>
      answered(await askAutosuspend(page, undefined), (autosuspend) => ({ ...known, autosuspend })),
  },
];
