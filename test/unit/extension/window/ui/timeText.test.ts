import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { timeAgo, timeAhead, autosuspendText, durationText, timeAndDate, timeLeft } =
  await import('../../../../../src/extension/window/ui/timeText.ts');

describe('durationText', () => {
  it('uses the largest units', () => {
    const lengths = [0, 60, 90, 300, 3600, 5400, 86_400, 604_800];
    assert.deepEqual(lengths.map(durationText), [
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

describe('timeAgo', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const before = (seconds: number) => timeAgo(new Date(now - seconds * 1000).toISOString(), now);

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
});

describe('timeAhead', () => {
  it('uses the largest unit, and is never in the past', () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    const after = (seconds: number) => timeAhead(new Date(now + seconds * 1000).toISOString(), now);
    assert.deepEqual([-60, 59, 3 * 3600 - 1, 86_400, 3 * 86_400].map(after), [
      'now',
      'in 59 seconds',
      'in 2 hours',
      'tomorrow',
      'in 3 days',
    ]);
    assert.equal(timeAhead('soon', now), 'soon');
  });
});

describe('timeLeft', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const after = (seconds: number) => timeLeft(new Date(now + seconds * 1000).toISOString(), now);

  it('is short, and never more than what is left', () => {
    const hour = 3600;
    assert.deepEqual(
      [-5, 59, 60, 3599, hour, 23.9 * hour, 47 * hour, 48 * hour, 6.9 * 24 * hour].map(after),
      ['0 min', '0 min', '1 min', '59 min', '1 h', '23 h', '47 h', '2 d', '6 d'],
    );
  });
});

describe('timeAndDate', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const text = (seconds: number) => timeAndDate(new Date(now + seconds * 1000).toISOString(), now);

  it('says how long ago or in how long, and when', () => {
    assert.match(text(-7200), /^2 hours ago \(11\/21\/2026, .+\)$/);
    assert.match(text(30), /^just now \(/);
    assert.match(text(7200), /^in 2 hours \(/);
  });
});
