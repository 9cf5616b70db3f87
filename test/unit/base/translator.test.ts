import assert from 'node:assert/strict';
import { unitText } from '../../../src/base/translator.ts';

describe('unitText', () => {
  it('returns a number with its unit, which never ends a sentence', () => {
    assert.equal(unitText('en', 4.6, 'second'), '4.6 sec');
    assert.equal(unitText('de', 4.6, 'second'), '4,6 Sek');
    assert.equal(unitText('de', 24, 'hour'), '24 Std');
    assert.equal(unitText('en', 1.25, 'megabyte', { maximumFractionDigits: 1 }), '1.3 MB');
  });
});
