/** The questions of Create Compute…. Started from a project or branch, they skip the known ones. */
import { l10n } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { asBranchNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { askAutosuspend } from './autosuspendQuestion.ts';
import { askBranch } from './branchQuestion.ts';
import { askProject } from '../input/pickers.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, runSteps, type Step } from '../input/multiStepInput.ts';
import { sizeSteps, type SizeState } from './sizeQuestions.ts';
import { askType, type ComputeType } from './typeQuestion.ts';

export interface CreationAnswers {
  readonly projectId: string;
  readonly creation: ComputeCreation;
}

interface CreationState extends SizeState {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly type?: ComputeType;
  readonly autosuspend?: number;
}

/** @returns undefined if the user canceled. @throws {ApiError} */
export async function askForCreation(
  context: CommandContext,
  argument: unknown,
): Promise<CreationAnswers | undefined> {
  const start: CreationState = {
    projectId: (asProjectNode(argument) ?? asBranchNode(argument))?.projectId,
    branchId: asBranchNode(argument)?.branchId,
  };
  const state = await runSteps(l10n.t('Create Compute'), start, stepsFor(context));
  return state && answersOf(state);
}

function answersOf({
  projectId,
  branchId,
  type,
  size,
  autosuspend,
}: CreationState): CreationAnswers | undefined {
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

const stepsFor = (context: CommandContext): readonly Step<CreationState>[] => [
  {
    applies: (state) => state.projectId === undefined,
    ask: async (page, state) =>
      mapAnswer(await askProject(context, page), (projectId) => ({ ...state, projectId })),
  },
  {
    applies: (state) => state.branchId === undefined,
    ask: async (page, state) => {
      const branch = await askBranch(context, page, { projectId: state.projectId ?? '' });
      return mapAnswer(branch, (branchId) => ({ ...state, branchId }));
    },
  },
  {
    applies: (state) => state.type === undefined,
    ask: async (page, state) => {
      const { projectId = '', branchId = '' } = state;
      return mapAnswer(await askType(context, page, { projectId, branchId }), (type) => ({ ...state, type }));
    },
  },
  ...sizeSteps<CreationState>(() => undefined),
  {
    applies: (state) => state.autosuspend === undefined,
    ask: async (page, state) =>
      mapAnswer(await askAutosuspend(page, undefined), (autosuspend) => ({ ...state, autosuspend })),
  },
];
