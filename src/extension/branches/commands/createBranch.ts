/** Create Branch…: asks only what isn't clear from the project or branch that the command is started from. */
import { l10n } from 'vscode';
import type { BranchCreation } from '../../../api/records/requests.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { asBranchNode, asProjectNode } from '../../inventory/nodes.ts';
import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import { expiryAfter } from '../expiryTime.ts';
import { projectName } from '../../inventory/names.ts';
import { namesText, resourceText } from '../../inventory/ui/resourceText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { branchQuestion, requireBranches } from '../../commandSupport/branchPicker.ts';
import { askInSteps, type Question } from '../../window/ui/input/multiStepInput.ts';
import { askForProject, currentBranch, onlyProject } from '../../commandSupport/pickers.ts';
import { enterText, nameProblem, pickOne } from '../../window/ui/input/quickInput.ts';
import { lifetimeQuestion, explainExpiry } from './expiry.ts';

export const createBranch: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't create the branch");
  const answers = await askForCreation(context, argument);
  if (answers === undefined) return;
  const { projectId, creation } = answers;
  const created = await createBranchIn(context, run, projectId, creation);
  if (created?.branch === undefined) return;
  const { branch, computes: [compute] = [] } = created;
  await revealRow(context, { projectId, branchId: branch.id, computeId: compute?.id });
};

/** @param prepare is called first, if the user doesn't cancel @returns undefined if the user canceled */
export async function createBranchIn(
  context: CommandContext,
  run: CommandRun,
  projectId: string,
  creation: BranchCreation,
  prepare?: (options: SendOptions) => Promise<unknown>,
): Promise<SendResult | undefined> {
  const name = projectName(context.inventory, projectId);
  const branch = namesText({ project: name, branch: sanitize(creation.branch?.name ?? '') });
  return await makeChange(context, run, {
    projectId,
    name,
    question: l10n.t('Create {0}?', branch),
    button: l10n.t('Create'),
    progress: l10n.t('Creating {0}', branch),
    send: async (options) => {
      await prepare?.(options);
      return await context.branchActions.create(projectId, creation, options);
    },
    done: l10n.t('Created {0}', branch),
  });
}

interface CreationAnswers {
  readonly projectId: string;
  readonly creation: BranchCreation;
}

/** Returns undefined if the user canceled. @throws {ApiError} */
async function askForCreation(
  context: CommandContext,
  argument: unknown,
): Promise<CreationAnswers | undefined> {
  const node = asBranchNode(argument);
  if (node !== undefined) {
    const branch = context.inventory.branches.get(node.projectId, node.branchId);
    if (await explainExpiry({ ...node, branch })) return undefined;
  }
  const given = (node ?? asProjectNode(argument))?.projectId ?? (await onlyProject(context));
  return await askInSteps(l10n.t('Create Branch'), async (ask) => {
    const projectId = given ?? (await askForProject(context, ask, { following: 4 }));
    const name = await ask(newNameQuestion(context, projectId, node?.branchId), {
      following: node === undefined ? 3 : 2,
    });
    const placeholder = l10n.t('Select the parent, whose data the branch starts with');
    const current = currentBranch(context, projectId);
    const question = { projectId, placeholder, current };
    const parentId = node?.branchId ?? (await ask(branchQuestion(context, question), { following: 2 }));
    const withCompute = await ask(computeQuestion(), { following: 1 });
    const lifetime = await ask(lifetimeQuestion());
    const expiry = lifetime === 0 ? {} : { expires_at: expiryAfter(lifetime) };
    const creation = {
      branch: { name, parent_id: parentId, ...expiry },
      ...(withCompute ? { endpoints: [{ type: 'read_write' as const }] } : {}),
    };
    return { projectId, creation };
  });
}

const newNameQuestion =
  (context: CommandContext, projectId: string, parentId: string | undefined): Question<string> =>
  async (position) => {
    const list = await requireBranches(context, projectId);
    const parent =
      parentId === undefined ? undefined : resourceText(context.inventory, { projectId, branchId: parentId });
    const prompt =
      parent === undefined
        ? l10n.t(
            "Name of the new branch of {0}, which starts with a copy of its parent's data",
            projectName(context.inventory, projectId),
          )
        : l10n.t('Name of the new branch, which starts with a copy of the data of {0}', parent);
    return await branchNameQuestion(list, { prompt, value: '' })(position);
  };

/** @param except the id of the branch that is being renamed */
export const branchNameQuestion = (
  list: BranchList,
  { except, ...question }: { readonly prompt: string; readonly value: string; readonly except?: string },
): Question<string> =>
  enterText({
    ...question,
    problem: (text) => {
      const same = [...list.branches.values()].find(({ id, name }) => name === text && id !== except);
      return same ? l10n.t('{0} has this name', same.id) : nameProblem(text);
    },
  });

function computeQuestion(): Question<boolean> {
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
  return pickOne({ placeholder, items });
}
