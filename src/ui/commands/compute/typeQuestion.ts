/** Asks for the type: primary or read replica. A branch has at most one primary (section 8). */
import { l10n, type QuickPickItem } from 'vscode';
import type { ComputeCreation } from '../../../api/records/requests.ts';
import { isPrimary, labelOf } from '../../../model/inventory/computeStatus.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, type Answer, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

export type ComputeType = ComputeCreation['type'];

interface TypeItem extends QuickPickItem {
  readonly type: ComputeType;
  readonly isUnavailable: boolean;
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
  const placeholder = l10n.t('Select the type of the compute on {0}', branch.branchId);
  const isUnavailable = (item: TypeItem) => item.isUnavailable;
  return mapAnswer(await pickOne(page, { placeholder, items: items(), isUnavailable }), (item) => item.type);
}

const replicaItem = (): TypeItem => ({
  label: l10n.t('Read replica'),
  description: l10n.t('read-only, any number per branch'),
  type: 'read_only',
  isUnavailable: false,
});

/** @param taken the label of the existing primary */
const primaryItem = (taken: string | undefined): TypeItem => ({
  label: l10n.t('Primary'),
  description:
    taken === undefined
      ? l10n.t('read and write, one per branch')
      : l10n.t('not available: {0} is the primary of this branch', taken),
  type: 'read_write',
  isUnavailable: taken !== undefined,
});
