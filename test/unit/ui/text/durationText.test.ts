import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { ago, autosuspendText, duration } = await import('../../../../src/ui/text/durationText.ts');

describe('duration', () => {
  it('uses the largest units', () => {
    const lengths = [0, 60, 90, 300, 3600, 5400, 86_400, 604_800];
    assert.deepEqual(lengths.map(duration), [
      '0 seconds',
      '1 minute',
      '1 minute, 30 seconds',
      '5 minutes',
      '1 hour',
      '1 hour, 30 minutes',
      '1 day',
      '7 days',
    ]);
  });
});

describe('autosuspendText', () => {
  it('names the default and never', () => {
    const delays = [0, null, undefined, 300, -1];
    assert.deepEqual(delays.map(autosuspendText), [
      'after 5 minutes (default)',
      'after 5 minutes (default)',
      'after 5 minutes (default)',
      'after 5 minutes',
      'never',
    ]);
  });
});

describe('ago', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const before = (seconds: number) => ago(new Date(now - seconds * 1000).toISOString(), now);

  it('uses the largest unit', () => {
    const seconds = [50, 120, 7200, 86_400, 3 * 86_400, 65 * 86_400, 800 * 86_400];
    assert.deepEqual(seconds.map(before), [
      '50 seconds ago',
      '2 minutes ago',
      '2 hours ago',
      'yesterday',
      '3 days ago',
      '2 months ago',
      '2 years ago',
    ]);
  });

  it('is never in the future, even if the clocks differ', () => {
    assert.deepEqual([before(-30), before(0), before(44)], ['just now', 'just now', 'just now']);
  });

  it('returns other text unchanged', () => {
    assert.equal(ago('long ago', now), 'long ago');
  });
});
