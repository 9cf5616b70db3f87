/** Primary or read replica: a branch has at most one primary (section 8). */
import { l10n, type QuickPickItem } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { isPrimary, labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { type Answer, answered, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

export type ComputeType = ComputeCreation['type'];

interface TypeItem extends QuickPickItem {
  readonly type: ComputeType;
  readonly isRefused: boolean;
}

export async function askType(
  context: CommandContext,
  page: Page,
  branch: { readonly projectId: string; readonly branchId: string },
): Promise<Answer<ComputeType>> {
  const items = async (): Promise<readonly TypeItem[]> => {
    const list = await context.inventory.loadComputes(branch.projectId);
    const primary = list?.branches().get(branch.branchId)?.find(isPrimary);
    const [first, replica] = [primaryItem(primary && sanitize(labelOf(primary))), replicaItem()];
    return primary === undefined ? [first, replica] : [replica, first];
  };
  const placeholder = l10n.t('Type of the compute on {0}', branch.branchId);
  const isRefused = (item: TypeItem) => item.isRefused;
  return answered(await pickOne(page, { placeholder, items: items(), isRefused }), (item) => item.type);
}

const replicaItem = (): TypeItem => ({
  label: l10n.t('Read replica'),
  description: l10n.t('read-only; a branch may have any number'),
  type: 'read_only',
  isRefused: false,
});

/** @param taken the label of the primary there is */
const primaryItem = (taken: string | undefined): TypeItem => ({
  label: l10n.t('Primary'),
  description:
    taken === undefined
      ? l10n.t('read and write; one for each branch')
      : l10n.t('not possible: {0} is the primary of this branch', taken),
  type: 'read_write',
  isRefused: taken !== undefined,
});
