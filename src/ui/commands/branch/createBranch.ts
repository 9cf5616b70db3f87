/** Create Branch…. Skips the questions that are answered by the project or branch it is started from. */
import { l10n } from 'vscode';
import type { BranchCreation } from '../../../api/records/requests.ts';
import type { BranchList } from '../../../model/inventory/branchLists.ts';
import { asBranchNode, asProjectNode } from '../../../model/inventory/nodes.ts';
import { expiryAfter } from '../../../model/workBranch/lifetime.ts';
import { branchTitle } from '../../text/branchText.ts';
import { nameOrId } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../change.ts';
import type { Command, CommandContext } from '../context.ts';
import { askBranch, requireBranches } from '../input/branchPicker.ts';
import { runSteps, valueStep, type Answer, type StepPosition, type Step } from '../input/multiStepInput.ts';
import { currentBranch, inProject, onlyProject, projectStep, requireConnection } from '../input/pickers.ts';
import { askText, pickOne } from '../input/quickInput.ts';
import { askLifetime, explainExpiry } from './expiry.ts';

interface State {
  readonly projectId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly name?: string;
  readonly withCompute?: boolean;
  /** Seconds from now; 0 is never. */
  readonly lifetime?: number;
}

export const create: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't create the branch");
  const answers = await askForBranch(context, argument);
  if (answers === undefined) return;
  const { projectId } = answers;
  if (projectId === undefined) return;
  const name = nameOrId(context.inventory.project(projectId)?.name, projectId);
  const created = await makeChange(context, run, {
    projectId,
    name,
    question: l10n.t('Create a branch in {0}?', name),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a branch'),
    send: (options) => context.branchActions.create(projectId, creationOf(answers), options),
    done: ({ branch }) => branch && l10n.t('Created {0}', branchTitle(branch.id, branch)),
  });
  if (created?.branch === undefined) return;
  const { branch, computes = [] } = created;
  const [compute] = computes;
  const node = { kind: 'branch', projectId, branchId: branch.id } as const;
  await revealRow(
    context,
    compute === undefined ? node : { ...node, kind: 'compute', computeId: compute.id },
  );
};

/** @returns undefined if the user canceled. @throws {ApiError} */
async function askForBranch(context: CommandContext, argument: unknown): Promise<State | undefined> {
  const branch = asBranchNode(argument);
  if (branch !== undefined) {
    const { projectId, branchId } = branch;
    const record = context.inventory.branches.get(projectId, branchId);
    if (await explainExpiry({ ...branch, branch: record })) return undefined;
  }
  const start: State = {
    projectId: (branch ?? asProjectNode(argument))?.projectId ?? (await onlyProject(context)),
    parentId: branch?.branchId,
  };
  return await runSteps(l10n.t('Create Branch'), start, steps(context));
}

function creationOf({ name, parentId, withCompute, lifetime = 0 }: State): BranchCreation {
  return {
    branch: {
      ...(name === undefined ? {} : { name }),
      ...(parentId === undefined ? {} : { parent_id: parentId }),
      ...(lifetime === 0 ? {} : { expires_at: expiryAfter(lifetime) }),
    },
    ...(withCompute === true ? { endpoints: [{ type: 'read_write' as const }] } : {}),
  };
}

const steps = (context: CommandContext): readonly Step<State>[] => [
  projectStep(context),
  valueStep(
    'name',
    inProject(async (position, state) => {
      const list = await requireBranches(context, state.projectId);
      const prompt =
        state.parentId === undefined
          ? l10n.t('Name of the new branch')
          : l10n.t(
              'Name of the new branch of {0}',
              branchTitle(state.parentId, list.branches.get(state.parentId)),
            );
      return await askBranchName(position, list, { prompt, value: '' });
    }),
  ),
  valueStep(
    'parentId',
    inProject(async (position, { projectId }) => {
      const placeholder = l10n.t('Select the parent, whose data the branch starts with');
      const current = currentBranch(context, projectId);
      return await askBranch(context, position, { projectId, placeholder, current });
    }),
  ),
  valueStep('withCompute', askCompute),
  valueStep('lifetime', askLifetime),
];

const MAX_BRANCH_NAME = 256;

/** @param except the id of the branch that is being renamed */
export const askBranchName = (
  position: StepPosition,
  list: BranchList,
  { except, ...question }: { readonly prompt: string; readonly value: string; readonly except?: string },
): Promise<Answer<string>> =>
  askText(position, {
    ...question,
    problem: (text) => {
      if (text.length > MAX_BRANCH_NAME) return l10n.t('At most {0} characters', MAX_BRANCH_NAME);
      const same = [...list.branches.values()].find(({ id, name }) => name === text && id !== except);
      return same && l10n.t('{0} has this name', same.id);
    },
  });

async function askCompute(position: StepPosition): Promise<Answer<boolean>> {
  const items = [
    {
      label: l10n.t('With a primary compute'),
      description: l10n.t('of the default size, to connect at once'),
      value: true,
    },
    {
      label: l10n.t('Without a compute'),
      description: l10n.t('data only, until you create a compute'),
      value: false,
    },
  ];
  const placeholder = l10n.t('Select whether the branch gets a compute');
  return await pickOne(position, { placeholder, items });
}
