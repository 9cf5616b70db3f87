import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { recordedUsage, usageStep } from '../../../../../src/extension/inventory/usage.ts';

const { usageText } = await import('../../../../../src/extension/inventory/ui/usageText.ts');

describe('usageText', () => {
  const rows = [
    [{ compute_time_seconds: 4680, active_time_seconds: 18_720 }, '1.3 CU-hours, active for 5.2 hours'],
    [{ cpu_used_sec: 450, active_time: 1800 }, '0.13 CU-hours, active for 0.5 hours'],
    [{ compute_time_seconds: 3600, cpu_used_sec: 1, active_time: null }, '1 CU-hours'],
    [{ compute_time_seconds: 0, active_time_seconds: 0 }, '0 CU-hours, active for 0 hours'],
    [{}, undefined],
  ] as const;
  for (const [record, expected] of rows)
    it(`is ${expected} for ${JSON.stringify(record)}`, () =>
      assert.equal(usageText(recordedUsage(record)), expected));
});

describe('usageStep', () => {
  it('changes once for each tenth of an hour', () => {
    const steps = [0, 359, 360, 3600].map((seconds) => usageStep({ compute_time_seconds: seconds }));
    assert.deepEqual(steps, [0, 0, 1, 10]);
  });
});
