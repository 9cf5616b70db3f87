import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CancellationToken, FileDecoration, TreeItem, Uri } from 'vscode';

const { markDecorations, markItem } = await import('../../../../src/ui/tree/treeItems.ts');

const token = {} as CancellationToken;
const decorate = (uri: Uri | undefined) =>
  (uri && markDecorations.provideFileDecoration(uri, token)) as FileDecoration | undefined;

describe('markItem', () => {
  const row = (): TreeItem => ({
    id: 'shop',
    description: 'eu',
    accessibilityInformation: { label: 'Project shop' },
  });

  it('shows the mark of a project as text, color and badge', () => {
    const item = markItem(row(), { kind: 'project', projectId: 'shop' }, 'production');
    assert.equal(item.description, 'eu · production');
    assert.equal(item.accessibilityInformation?.label, 'Project shop, production');
    assert.equal(decorate(item.resourceUri)?.badge, 'P');
    assert.match(JSON.stringify(decorate(item.resourceUri)), /hostedPostgres\.productionForeground/);
  });

  it('shows the mark of a branch as color and badge', () => {
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-main' } as const;
    const item = markItem(row(), node, 'readOnly');
    assert.equal(item.description, 'eu');
    assert.equal(item.accessibilityInformation?.label, 'Project shop, read-only');
    assert.equal(decorate(item.resourceUri)?.badge, 'R');
  });

  it('shows the mark of a compute as text, so that dropping it into an editor inserts its host', () => {
    const node = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-main' } as const;
    const item = markItem(row(), node, 'production');
    assert.equal(item.description, 'eu · production');
    assert.equal(item.resourceUri, undefined);
  });

  it('decorates no other resources', () => {
    assert.equal(decorate({ scheme: 'file', path: '/production/x' } as Uri), undefined);
    assert.equal(decorate({ scheme: 'hosted-postgres-mark', path: '/other/x' } as Uri), undefined);
  });
});
