import assert from 'node:assert/strict';
import { assertLinear } from '../../../helpers/assertLinear.ts';
import { topLevelKeys } from '../../../../src/model/settings/jsonKeys.ts';

const keysOf = (text: string) => topLevelKeys(text).map(({ key }) => key);

describe('topLevelKeys', () => {
  it('returns each key with its range, including the quotes', () => {
    const text = '{\n  "a" : 1,\n  "b": "c"\n}';
    assert.deepEqual(
      topLevelKeys(text).map(({ start, end }) => text.slice(start, end)),
      ['"a"', '"b"'],
    );
  });

  it('skips nested objects', () => {
    assert.deepEqual(keysOf('{"a":{"x":1},"b":[{"y":"z"}],"c":2}'), ['a', 'b', 'c']);
    assert.deepEqual(keysOf('["a", "b"]'), []);
  });

  it('skips values that look like keys', () => {
    assert.deepEqual(keysOf('{"a":"\\"b\\": {","c":"}"}'), ['a', 'c']);
  });

  it('leaves out keys with an invalid escape, and strings without a colon', () => {
    assert.deepEqual(keysOf('{"\\x": 1, "a"  \n : 2, "b"}'), ['a']);
    assert.deepEqual(keysOf('{"a": [1], "b": {}}, "c": 1'), ['a', 'b']);
  });

  it('reads incomplete text', () => {
    assert.deepEqual(keysOf('{"a": , "b": "lo'), ['a', 'b']);
    assert.deepEqual(keysOf(''), []);
  });

  it('decodes escapes', () => {
    assert.deepEqual(keysOf('{"w\\u006frk_mem": 1}'), ['work_mem']);
  });

  for (const unit of ['"\\', '\\"', '{"a":', '"a":1,']) {
    it(`takes linear time for repeated ${JSON.stringify(unit)}`, () =>
      assertLinear(unit, 1000, (text) => topLevelKeys(`{"${text}`)));
  }
});
