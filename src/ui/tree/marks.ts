/** How rows show that changes are guarded: a color and a badge, and the text for screen readers. */
import { FileDecoration, l10n, ThemeColor, Uri, type FileDecorationProvider, type TreeItem } from 'vscode';
import { MARKS, type Mark } from '../../model/account/guards.ts';
import { markText } from '../text/accountLabel.ts';
import type { TreeNode } from './nodes.ts';

/** The URI of a marked row names its mark. No file is behind it. */
const SCHEME = 'hosted-postgres-mark';

/**
 * Projects and branches get a color and a badge. Computes get only text: VS Code would open a row with a URI that is
 * dropped into an editor, instead of inserting the compute's host.
 */
export function markItem(item: TreeItem, node: TreeNode, mark: Mark): TreeItem {
  const text = markText(mark);
  if (node.kind !== 'compute')
    item.resourceUri = Uri.from({ scheme: SCHEME, path: `/${mark}/${item.id ?? ''}` });
  if (node.kind !== 'branch')
    item.description = [item.description, text].filter((part) => typeof part === 'string').join(' · ');
  const { label = '' } = item.accessibilityInformation ?? {};
  if (label !== '') item.accessibilityInformation = { label: `${label}, ${text}` };
  return item;
}

export const markDecorations: FileDecorationProvider = {
  provideFileDecoration: ({ scheme, path }) => {
    if (scheme !== SCHEME) return undefined;
    const mark = MARKS.find((name) => path.startsWith(`/${name}/`));
    return mark && decorationOf(mark);
  },
};

function decorationOf(mark: Mark): FileDecoration {
  switch (mark) {
    case 'production':
      return new FileDecoration(
        'P',
        l10n.t('Production: type the name to confirm each change'),
        new ThemeColor('hostedPostgres.productionForeground'),
      );
    case 'readOnly':
      return new FileDecoration(
        'R',
        l10n.t('Read-only: all changes are blocked'),
        new ThemeColor('hostedPostgres.readOnlyForeground'),
      );
    default:
      return mark satisfies never;
  }
}
