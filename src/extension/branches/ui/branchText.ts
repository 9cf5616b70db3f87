/** The name and marks of a branch as text. The id comes first, because it never changes, unless the user chose names. */
import { env, l10n, type MarkdownString } from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { BranchIds } from '../../account/refs.ts';
import { usageOf } from '../../inventory/usage.ts';
import { formatDate, formatDay, usageText } from '../../window/ui/timeText.ts';
import { idAndName, idWithName } from '../../window/ui/idAndName.ts';
import { markdownTable, type Row } from '../../window/ui/markdown.ts';
import { sanitize } from '../../../base/sanitize.ts';

export { branchTitle } from '../../inventory/branchStatus.ts';

/**
 * The label, and parts such as `main`, `default`, `protected` and `expires on 1/31/2026`. The state is included only if the
 * branch isn't ready.
 */
export function branchRow(
  id: string,
  branch: Branch | undefined,
): { readonly label: string; readonly parts: readonly string[] } {
  const { label, description } = idAndName(id, branch?.name);
  const state = branch?.current_state ?? 'ready';
  const parts = [
    description,
    branch?.default === true ? l10n.t('default') : '',
    branch?.protected === true ? l10n.t('protected') : '',
    state === 'ready' ? '' : sanitize(state),
    branch?.expires_at ? l10n.t('expires on {0}', formatDay(branch.expires_at)) : '',
  ];
  return { label, parts: parts.filter((part) => part !== '') };
}

/** See `idWithName`. */
export const branchLabel = (id: string, branch: Branch | undefined): string => idWithName(id, branch?.name);

/** What is lost with a branch. */
export function deletionText(
  inventory: Pick<Inventory, 'computesOf'>,
  { projectId, branchId }: BranchIds,
): string {
  const computes = inventory.computesOf(projectId)?.branches().get(branchId)?.length ?? 0;
  return computes === 0
    ? l10n.t("This can't be undone. Its data is deleted.")
    : l10n.t(
        "This can't be undone. Its data and computes ({0}) are deleted, and connections are dropped.",
        computes,
      );
}

/** What an undo does. @param name of the branch that keeps the data */
export const keptText = (name: string): string =>
  l10n.t(
    'Its current data is kept as the branch {0}. Its active computes are restarted, and their connections are dropped.',
    name,
  );

/** The tooltip of a branch. */
export function branchTable(branch: Branch, parent: Branch | undefined): MarkdownString {
  const parentId = branch.parent_id ?? undefined;
  const rows: Row[] = [
    [l10n.t('Id'), branch.id],
    [l10n.t('State'), branch.current_state],
    [l10n.t('Parent'), parentId && branchLabel(parentId, parent)],
    [l10n.t('Protected'), branch.protected === true ? l10n.t('yes') : undefined],
    [l10n.t('Used this period'), usageText(usageOf(branch))],
    [l10n.t('Expires'), branch.expires_at && formatDate(branch.expires_at)],
    [l10n.t('Created'), branch.created_at && formatDate(branch.created_at)],
  ];
  return markdownTable(branch.name || branch.id, rows);
}

/** Returns text such as `31.2 MB`. */
export const bytesText = (bytes: number): string =>
  new Intl.NumberFormat(env.language, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(
    bytes / 1e6,
  );
