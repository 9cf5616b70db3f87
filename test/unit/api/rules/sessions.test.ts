import assert from 'node:assert/strict';
import { withCommands } from '../../../../src/api/rules/sessions.ts';

describe('withCommands', () => {
  for (const [query, command] of [
    ['/* copy job */ SELECT pg_sleep(60)', 'SELECT'],
    ['-- name: ListUsers :many\nselect 1', 'SELECT'],
    ['listen jobs', 'LISTEN'],
    ['(select 1)', undefined],
    ['<insufficient privilege>', undefined],
    ['', undefined],
    [null, undefined],
  ] as const)
    it(`finds ${command} in ${query}`, () =>
      assert.deepEqual(withCommands([{ id: '1', query }]), [{ id: '1', command }]));

  it('finds nothing in a reply without sessions', () => assert.deepEqual(withCommands(null), []));
});
