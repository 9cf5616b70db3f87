/** Asks for a branch of a project. If the service doesn't list branches, offers those with computes, or asks for an id. */
import { l10n } from 'vscode';
import { isBranchId } from '../../api/records/ids.ts';
import type { Branch, Compute } from '../../api/records/records.ts';
import type { BranchList } from '../inventory/branchLists.ts';
import { branchIdsOf, keptForUndo } from '../inventory/branchStatus.ts';
import { isPrimary } from '../inventory/computeStatus.ts';
import type { BranchIds } from '../account/refs.ts';
import { asBranchNode, asProjectNode, type BranchNode } from '../inventory/nodes.ts';
import { branchIcon, branchRow } from '../inventory/ui/branchText.ts';
import { resourceText } from '../inventory/ui/resourceText.ts';
import { branchTitle } from '../inventory/names.ts';
import { displayName, sanitize } from '../../base/sanitize.ts';
import type { CommandContext } from './context.ts';
import { askInSteps, type Question } from '../window/ui/input/multiStepInput.ts';
import { askForProject, currentBranch, onlyProject } from './pickers.ts';
import { pickOne, type Choice } from '../window/ui/input/quickInput.ts';
import { window } from '../window/ui/window.ts';

interface BranchQuestion {
  readonly projectId: string;
  readonly placeholder?: string;
  /** The branch to focus; the first one by default. */
  readonly current?: string | undefined;
  /** Why a branch with these computes can't be picked; undefined if it can. */
  readonly problem?: (branchId: string, computes: readonly Compute[]) => string | undefined;
}

export function branchQuestion(
  { inventory }: Pick<CommandContext, 'inventory'>,
  { projectId, placeholder, current, problem = () => undefined }: BranchQuestion,
): Question<string> {
  let branchItems: readonly Choice<string>[] = [];
  const items = async () => {
    const [list] = await Promise.all([
      inventory.loadComputes(projectId),
      inventory.branches.forProject(projectId) ?? inventory.branches.refresh(projectId),
    ]);
    // Without the list, branches without computes would be missing.
    const failure = inventory.branches.failure(projectId);
    if (failure !== undefined && inventory.branches.forProject(projectId) === undefined) throw failure;
    const all = branchIdsOf(inventory, projectId).map((id) => {
      const computes = list?.branches().get(id) ?? [];
      const item = branchItem(inventory, { projectId, branchId: id }, computes, problem(id, computes));
      return { ...item, isCurrent: id === current };
    });
    const canPick = ({ value }: Choice<string>) => value !== undefined;
    branchItems = [...all.filter(canPick), ...all.filter((item) => !canPick(item))];
    return branchItems;
  };
  const isListed = (text: string) =>
    branchItems.some(({ label, description = '' }) => `${label} ${description}`.includes(text));
  const typed = (text: string) =>
    text === '' || inventory.branches.forProject(projectId) !== undefined || isListed(text)
      ? undefined
      : typedBranchItem(text);
  return pickOne({
    placeholder: placeholder ?? l10n.t('Select a branch or enter another branch id (br-…)'),
    items,
    typed,
  });
}

function branchItem(
  inventory: CommandContext['inventory'],
  ids: BranchIds,
  computes: readonly Compute[],
  problem: string | undefined,
): Choice<string> {
  const { projectId, branchId } = ids;
  const branch = inventory.branches.get(projectId, branchId);
  const { label, parts } = branchRow(branchId, branch, { kept: keptForUndo(inventory, ids) });
  return {
    label,
    iconPath: branchIcon(branch),
    description: [...parts, problem ?? computesSummary(computes)].join(' · '),
    value: problem === undefined ? branchId : undefined,
  };
}

/** Returns text such as `primary: shop-main · 2 read replicas`. */
function computesSummary(computes: readonly Compute[]): string {
  if (computes.length === 0) return l10n.t('no computes');
  const primary = computes.find(isPrimary);
  const replicas = computes.length - (primary === undefined ? 0 : 1);
  const parts = [primary === undefined ? l10n.t('no primary') : l10n.t('primary: {0}', displayName(primary))];
  if (replicas > 0)
    parts.push(replicas === 1 ? l10n.t('1 read replica') : l10n.t('{0} read replicas', replicas));
  return parts.join(' · ');
}

/** Returns an item for the typed id of a branch without computes. Only the service knows whether the branch exists. */
function typedBranchItem(text: string): Choice<string> {
  const isValid = isBranchId(text);
  const description = isValid
    ? l10n.t('a branch without computes')
    : l10n.t('not a branch id (br- followed by a–z, 0–9 or -)');
  return { label: sanitize(text), description, alwaysShow: true, value: isValid ? text : undefined };
}

/** A branch with its record and the list of its project. */
export interface PickedBranch extends BranchNode {
  /** The branch's name, or else its id. */
  readonly name: string;
  /** The name with that of the project: see `resourceText`. */
  readonly fullName: string;
  readonly branch: Branch;
  readonly list: BranchList;
}

interface PickQuestion {
  /** The branch to focus; by default, that of the selected row. */
  readonly preferred?: BranchIds | undefined;
  readonly placeholder?: string;
  /** The placeholder of the list of projects. */
  readonly ofProject?: string;
}

/**
 * Returns the branch to change: that of the argument, or the one that the user picks.
 * @param problem why a branch can't be picked
 * @returns undefined if the user canceled
 * @throws {Error} with a message for the user if the service doesn't list branches, or the list doesn't contain this one
 */
export async function pickBranch(
  context: CommandContext,
  title: string,
  argument: unknown,
  problem?: (branch: Branch) => string | undefined,
  question: PickQuestion = {},
): Promise<PickedBranch | undefined> {
  context.session.requireConnection();
  const picked = asBranchNode(argument) ?? (await askForBranch(context, title, argument, problem, question));
  if (picked === undefined) return undefined;
  const { projectId, branchId } = picked;
  const list = await requireBranches(context, projectId);
  const branch = list.branches.get(branchId);
  if (branch === undefined) throw new Error(l10n.t('{0} no longer exists.', branchId));
  const name = branchTitle(branchId, branch);
  const fullName = resourceText(context.inventory, { projectId, branchId });
  return { kind: 'branch', projectId, branchId, name, fullName, branch, list };
}

async function askForBranch(
  context: CommandContext,
  title: string,
  argument: unknown,
  problem: (branch: Branch) => string | undefined = () => undefined,
  { preferred, placeholder = l10n.t('Select a branch'), ofProject }: PickQuestion = {},
): Promise<BranchIds | undefined> {
  const given = asProjectNode(argument)?.projectId ?? (await onlyProject(context));
  return await askInSteps(title, async (ask) => {
    const options = { following: 1, placeholder: ofProject };
    const projectId = given ?? (await askForProject(context, ask, options, preferred?.projectId));
    const branchId = await ask(async (position) => {
      const list = await requireBranches(context, projectId);
      const question = branchQuestion(context, {
        projectId,
        placeholder,
        current: preferred?.projectId === projectId ? preferred.branchId : currentBranch(context, projectId),
        problem: (id) => {
          const branch = list.branches.get(id);
          return branch === undefined ? l10n.t('not listed by the service') : problem(branch);
        },
      });
      return await question(position);
    });
    return { projectId, branchId };
  });
}

/**
 * Reloads the branches, because an old list may show a reason against a change that is gone, such as a child branch.
 * @throws {ApiError} @throws {Error} with a message for the user if the service doesn't list branches, at all or to this key
 */
export async function requireBranches(
  { inventory }: Pick<CommandContext, 'inventory'>,
  projectId: string,
): Promise<BranchList> {
  const location = { viewId: 'hostedPostgres.computes' };
  const list = await window.withProgress({ location }, () => inventory.branches.refresh(projectId));
  const failure = inventory.branches.failure(projectId);
  if (failure !== undefined) throw failure;
  if (list !== undefined) return list;
  throw new Error(
    inventory.branches.isOffered
      ? l10n.t("Couldn't load the branches of the project.")
      : l10n.t("This service doesn't support changing branches, or this API key doesn't allow it."),
  );
}

/** Returns the order of two branches in a comparison. The other branch is the base, unless this one is its parent. */
export const orderForComparison = (
  { branchId, list }: Pick<PickedBranch, 'branchId' | 'list'>,
  other: string,
): readonly [base: string, compared: string] =>
  list.branches.get(other)?.parent_id === branchId ? [branchId, other] : [other, branchId];
