/** Which branch of a project: one known by its computes, or one whose id is typed. */
import { l10n, type QuickPickItem } from 'vscode';
import { isBranchId } from '../../../api/records/ids.ts';
import type { Compute } from '../../../api/records/records.ts';
import { isPrimary, labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { type Answer, answered, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

export interface BranchQuestion {
  readonly projectId: string;
  /** Why a branch cannot be had, given its computes; undefined when it can. */
  readonly refusal?: (branchId: string, computes: readonly Compute[]) => string | undefined;
}

interface BranchItem extends QuickPickItem {
  readonly branchId: string;
  readonly isRefused: boolean;
}

export async function askBranch(
  context: CommandContext,
  page: Page,
  question: BranchQuestion,
): Promise<Answer<string>> {
  let known: readonly BranchItem[] = [];
  const items = async (): Promise<readonly BranchItem[]> => {
    const list = await context.inventory.loadComputes(question.projectId);
    const branches = [...(list?.branches() ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = branches.map(([id, computes]) => branchItem(id, computes, question));
    known = [...all.filter((item) => !item.isRefused), ...all.filter((item) => item.isRefused)];
    return known;
  };
  const typed = (text: string): BranchItem | undefined =>
    text === '' || known.some(({ branchId }) => branchId.includes(text)) ? undefined : typedItem(text);
  const placeholder = l10n.t('Branch: pick one, or type the id of another (br-…)');
  const isRefused = (item: BranchItem) => item.isRefused;
  const picked = await pickOne(page, { placeholder, items: items(), typed, isRefused });
  return answered(picked, (item) => item.branchId);
}

function branchItem(branchId: string, computes: readonly Compute[], question: BranchQuestion): BranchItem {
  const refusal = question.refusal?.(branchId, computes);
  const label = `$(git-branch) ${sanitize(branchId)}`;
  if (refusal !== undefined) return { label, description: refusal, branchId, isRefused: true };
  return { label, description: membersText(computes), branchId, isRefused: false };
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

/** Not among those known: a branch without computes, which the service will find or not. */
function typedItem(text: string): BranchItem {
  const isGood = isBranchId(text);
  const description = isGood
    ? l10n.t('a branch without computes so far')
    : l10n.t('not a branch id: br- and then a–z, 0–9 or -');
  return { label: sanitize(text), description, alwaysShow: true, branchId: text, isRefused: !isGood };
}
