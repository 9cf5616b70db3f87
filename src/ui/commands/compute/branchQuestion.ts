/** Asks for a branch of a project: one that has computes, or one whose id is entered. */
import { l10n, type QuickPickItem } from 'vscode';
import { isBranchId } from '../../../api/records/ids.ts';
import type { Compute } from '../../../api/records/records.ts';
import { isPrimary, labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, type Answer, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

export interface BranchQuestion {
  readonly projectId: string;
  /** Why a branch with these computes can't be picked; undefined if it can. */
  readonly problem?: (branchId: string, computes: readonly Compute[]) => string | undefined;
}

interface BranchItem extends QuickPickItem {
  readonly branchId: string;
  readonly isUnavailable: boolean;
}

export async function askBranch(
  context: CommandContext,
  page: Page,
  question: BranchQuestion,
): Promise<Answer<string>> {
  let branchItems: readonly BranchItem[] = [];
  const items = async (): Promise<readonly BranchItem[]> => {
    const list = await context.inventory.loadComputes(question.projectId);
    const branches = [...(list?.branches() ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = branches.map(([id, computes]) => branchChoice(id, computes, question));
    branchItems = [...all.filter((item) => !item.isUnavailable), ...all.filter((item) => item.isUnavailable)];
    return branchItems;
  };
  const typed = (text: string): BranchItem | undefined =>
    text === '' || branchItems.some(({ branchId }) => branchId.includes(text))
      ? undefined
      : typedBranchItem(text);
  const placeholder = l10n.t('Select a branch or enter another branch id (br-…)');
  const isUnavailable = (item: BranchItem) => item.isUnavailable;
  const picked = await pickOne(page, { placeholder, items: items(), typed, isUnavailable });
  return mapAnswer(picked, (item) => item.branchId);
}

function branchChoice(branchId: string, computes: readonly Compute[], question: BranchQuestion): BranchItem {
  const problem = question.problem?.(branchId, computes);
  const label = `$(git-branch) ${sanitize(branchId)}`;
  if (problem !== undefined) return { label, description: problem, branchId, isUnavailable: true };
  return { label, description: membersText(computes), branchId, isUnavailable: false };
}

/** Such as `primary: shop-main · 2 read replicas`. */
function membersText(computes: readonly Compute[]): string {
  const primary = computes.find(isPrimary);
  const replicas = computes.length - (primary === undefined ? 0 : 1);
  const parts = [
    primary === undefined ? l10n.t('no primary') : l10n.t('primary: {0}', sanitize(labelOf(primary))),
  ];
  if (replicas > 0)
    parts.push(replicas === 1 ? l10n.t('1 read replica') : l10n.t('{0} read replicas', replicas));
  return parts.join(' · ');
}

/** A branch without computes. Only the service knows whether it exists. */
function typedBranchItem(text: string): BranchItem {
  const isValid = isBranchId(text);
  const description = isValid
    ? l10n.t('a branch without computes')
    : l10n.t('not a branch id (br- followed by a–z, 0–9 or -)');
  return { label: sanitize(text), description, alwaysShow: true, branchId: text, isUnavailable: !isValid };
}
