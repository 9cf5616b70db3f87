import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { env } = await import('vscode');
const { sizeText } = await import('../../../../../src/extension/inventory/ui/sizeText.ts');

describe('sizeText', () => {
  it('formats a fixed size and a range, and is empty without a size', () => {
    const size = (min?: number | null, max?: number | null) =>
      sizeText(computeRecord('ep-x', { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }));
    assert.equal(size(0.25, 0.25), '0.25 CU');
    assert.equal(size(1, 4), '1–4 CU');
    assert.equal(size(2), '2 CU');
    assert.equal(size(undefined, 3), '3 CU');
    assert.equal(size(), '');
    assert.equal(size(null, null), '');
  });

  it("uses the decimal sign of the user's language", () => {
    const { language } = env;
    Object.assign(env, { language: 'de' });
    const record = computeRecord('ep-x', { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 1 });
    assert.equal(sizeText(record), '0,25–1 CU');
    Object.assign(env, { language });
  });
});
