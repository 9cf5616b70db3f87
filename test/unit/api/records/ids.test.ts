import assert from 'node:assert/strict';
import {
  isApiKeyId,
  isBranchId,
  isComputeId,
  isId,
  isOperationId,
  isSendableKey,
} from '../../../../src/api/records/ids.ts';

const UUID = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

const table: readonly [string, (value: never) => boolean, readonly unknown[], readonly unknown[]][] = [
  [
    'isId',
    isId,
    ['a', 'shiny-wind-028834', '-', '0', 'a'.repeat(60)],
    ['', 'A', 'a/b', '..', 'a.b', 'a b', 'a\n', 'é', 'a'.repeat(61), 7, null, undefined, {}, ['a']],
  ],
  ['isComputeId', isComputeId, ['ep-1', 'ep-'], ['ep', 'br-1', 'xep-1', 'EP-1', 'ep-1/..']],
  ['isBranchId', isBranchId, ['br-main'], ['ep-1', 'main', 'br-A', 'br-\u202E']],
  [
    'isOperationId',
    isOperationId,
    [UUID, UUID.toUpperCase()],
    [`${UUID}0`, UUID.slice(1), `${UUID}\n`, 1, null],
  ],
  ['isApiKeyId', isApiKeyId, [0, 1, 2 ** 53 - 1], [-1, 0.5, 2 ** 53, Number.NaN, '1', null, 1n]],
  [
    'isSendableKey',
    isSendableKey,
    ['k', 'napi_0123456789abcdefghijklmnop', '!~'],
    ['', ' ', 'a b', ' a', 'a\n', 'a\r\nx: y', 'a\tb', 'a\u0000', 'ключ', 'a…', '\u007f'],
  ],
];

for (const [what, check, good, bad] of table) {
  describe(what, () => {
    for (const value of good) it(`accepts ${JSON.stringify(value)}`, () => assert.ok(check(value as never)));
    for (const value of bad)
      it(`rejects ${typeof value === 'bigint' ? '1n' : JSON.stringify(value)}`, () =>
        assert.ok(!check(value as never)));
  });
}
