import { executed, openTabs } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Tab } from 'vscode';
import { RowDocuments } from '../../../../../src/extension/database/rows/rowDocuments.ts';
import type { Session } from '../../../../../src/extension/account/session.ts';
import { Schemas } from '../../../../../src/extension/database/schema/schemas.ts';
import { SCHEMA_SCHEME } from '../../../../../src/extension/database/schema/schemaScheme.ts';

const { TabInputText, TabInputTextDiff, Uri } = await import('vscode');
const { findOutdatedEditors, refreshTabs, replaceBranchInEditors } =
  await import('../../../../../src/extension/database/commands/outdatedEditors.ts');

const branch = { account: 'a', projectId: 'shop', branchId: 'br-main' };
const other = { ...branch, branchId: 'br-dev' };

describe('findOutdatedEditors', () => {
  const rows = new RowDocuments();
  const schemas = new Schemas({} as Session);
  const context = { rows, schemas };
  const source = { sql: 'table users', name: 'users' };
  const rowsUri = (request: object) =>
    Uri.from(rows.add('users', '', { source, branch: other, database: 'app', ...request }));
  const schemaUri = (branchId: string, time: string) =>
    Uri.from({ scheme: SCHEMA_SCHEME, path: `/shop/${branchId}/${time}/app/main.app.sql`, query: 'a' });
  const open = (label: string, ...uris: ReturnType<typeof rowsUri>[]) => {
    const [first, second] = uris;
    assert.ok(first);
    const input = second === undefined ? new TabInputText(first) : new TabInputTextDiff(first, second);
    openTabs.push({ label, input });
  };
  const labels = (tabs: readonly Tab[]) => tabs.map(({ label }) => label);

  beforeEach(() => {
    openTabs.length = executed.length = 0;
  });
  after(() => {
    openTabs.length = 0;
  });

  it('are those with rows or the current schema of the branch, on either side of a comparison', () => {
    open('peek', rowsUri({ branch }));
    open('compared with it', rowsUri({ base: branch }), rowsUri({ base: branch }));
    open('of another branch', rowsUri({}));
    open('schema', schemaUri('br-main', 'now'));
    open('earlier schema', schemaUri('br-main', encodeURIComponent('2026-01-31T12:00:00Z')));
    open('schemas', schemaUri('br-main', encodeURIComponent('0/1A2B')), schemaUri('br-main', 'now'));
    assert.deepEqual(labels(findOutdatedEditors(context, branch)), [
      'peek',
      'compared with it',
      'schema',
      'schemas',
    ]);
    assert.deepEqual(findOutdatedEditors(context, { ...branch, account: 'b' }), []);
  });

  it('stay those of a branch that gets another id, except those with earlier data', () => {
    const restored = { ...branch, branchId: 'br-new' };
    const past = schemaUri('br-main', encodeURIComponent('2026-01-31T12:00:00Z'));
    open('peek', rowsUri({ branch }));
    open('schemas', past, schemaUri('br-main', 'now'));
    replaceBranchInEditors(context, branch, restored);
    assert.deepEqual(labels(findOutdatedEditors(context, branch)), []);
    assert.deepEqual(labels(findOutdatedEditors(context, restored)), ['peek', 'schemas']);
    const ids = [past, schemaUri('br-main', 'now')].map((uri) => schemas.currentPath(uri).split('/')[2]);
    assert.deepEqual(ids, ['br-main', 'br-new']);
    const again = { ...branch, branchId: 'br-newest' };
    replaceBranchInEditors(context, restored, again);
    assert.deepEqual(labels(findOutdatedEditors(context, again)), ['peek', 'schemas']);
    schemas.forget(schemaUri('br-main', 'now'));
    assert.deepEqual(labels(findOutdatedEditors(context, again)), ['peek']);
  });

  it('are shown to be read again, each by its own command', async () => {
    const [peek, left, right] = [
      rowsUri({ branch }),
      schemaUri('br-dev', 'now'),
      schemaUri('br-main', 'now'),
    ];
    open('peek', peek);
    open('schemas', left, right);
    await refreshTabs(findOutdatedEditors(context, branch));
    assert.deepEqual(
      executed.map(([command]) => command),
      ['vscode.open', 'hostedPostgres.rows.refresh', 'vscode.diff', 'hostedPostgres.schema.refresh'],
    );
    assert.deepEqual(executed[2]?.slice(1, 4), [left, right, 'schemas']);
  });
});
