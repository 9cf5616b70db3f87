import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CancellationToken, FileDecoration, TreeItem, Uri } from 'vscode';

const { markDecorations, markItem } = await import('../../../../../src/extension/inventory/ui/treeItems.ts');

const token = {} as CancellationToken;
const decorate = (uri: Uri | undefined) =>
  (uri && markDecorations.provideFileDecoration(uri, token)) as FileDecoration | undefined;

describe('markItem', () => {
  const row = (): TreeItem => ({
    id: 'shop',
    description: 'eu',
    accessibilityInformation: { label: 'Project shop' },
  });

  const ids = { projectId: 'shop', branchId: 'br-main', computeId: 'ep-main' };
  // VS Code would open a compute with a URI that is dropped into an editor, instead of inserting its host.
  for (const [kind, mark, description, spoken, badge] of [
    ['project', 'production', 'eu · production', 'Project shop, production', 'P'],
    ['branch', 'readOnly', 'eu', 'Project shop, read-only', 'R'],
    ['compute', 'production', 'eu', 'Project shop, production', undefined],
  ] as const)
    it(`shows the mark of a ${kind}`, () => {
      const item = markItem(row(), { kind, ...ids }, mark);
      assert.equal(item.description, description);
      assert.equal(item.accessibilityInformation?.label, spoken);
      assert.equal(decorate(item.resourceUri)?.badge, badge);
    });

  it('has a color for each mark', () => {
    const { resourceUri } = markItem(row(), { kind: 'project', ...ids }, 'production');
    assert.match(JSON.stringify(decorate(resourceUri)), /hostedPostgres\.productionForeground/);
  });

  it('decorates no other resources', () => {
    assert.equal(decorate({ scheme: 'file', path: '/production/x' } as Uri), undefined);
    assert.equal(decorate({ scheme: 'hosted-postgres-mark', path: '/other/x' } as Uri), undefined);
  });
});
