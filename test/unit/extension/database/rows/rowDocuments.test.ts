import assert from 'node:assert/strict';
import { RowDocuments } from '../../../../../src/extension/database/rows/rowDocuments.ts';

const branch = (branchId: string, account = 'work') => ({ account, projectId: 'shop', branchId });
const source = { sql: 'TABLE orders', table: 'orders', name: 'orders' };

describe('RowDocuments', () => {
  it('follows a branch that gets another id, on either side of a comparison', () => {
    const rows = new RowDocuments();
    const add = (request: object) =>
      rows.add('orders', 'a text', { source, branch: branch('br-dev'), database: 'app', ...request });
    const own = add({ base: branch('br-main') });
    const base = add({ base: branch('br-dev'), branch: branch('br-qa') });
    const foreign = add({ branch: branch('br-dev', 'other') });
    rows.replaceBranch(branch('br-dev'), branch('br-restored'));
    const shown = [own, base, foreign].map((uri) => {
      const { text, request } = rows.get(uri) ?? {};
      return [text, request?.branch.branchId, request?.base?.branchId];
    });
    assert.deepEqual(shown, [
      ['a text', 'br-restored', 'br-main'],
      ['a text', 'br-qa', 'br-restored'],
      ['a text', 'br-dev', undefined],
    ]);
  });
});
