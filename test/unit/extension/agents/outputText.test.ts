import assert from 'node:assert/strict';
import {
  fittingItems,
  fittingText,
  outputText,
  jsonBytes,
} from '../../../../src/extension/agents/outputText.ts';

describe('The text of a result', () => {
  it('is JSON with a line for each row, record and field', () => {
    const rows = [
      ['1', 'a\nb'],
      ['2', null],
    ];
    const output = { columns: ['id', 'name'], rows, note: undefined, truncated: true };
    const text = outputText(output);
    assert.equal(
      text,
      '{"columns":["id","name"],\n"rows":[\n["1","a\\nb"],\n["2",null]\n],\n"truncated":true}',
    );
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(output)));
    const nested = {
      projects: [{ projectId: 'shop', computes: [{ computeId: 'ep-1' }, { computeId: 'ep-2' }] }],
    };
    assert.deepEqual(JSON.parse(outputText(nested)), nested);
    assert.match(outputText(nested), /^\{"computeId":"ep-1"\},$/m);
    assert.equal(outputText({ rows: [] }), '{"rows":[]}');
  });

  it('has as many items or lines as fit, in bytes', () => {
    const items = ['aaaa', 'üü', 'b'];
    assert.deepEqual(fittingItems(items, jsonBytes('aaaa') + jsonBytes('üü')), ['aaaa', 'üü']);
    assert.deepEqual(fittingItems(items, jsonBytes('aaaa') + jsonBytes('üü') - 1), ['aaaa']);
    assert.equal(fittingItems(items), items);
    assert.equal(fittingText('one\ntwo\nthree', 14), 'one\ntwo');
    assert.equal(fittingText('one\ntwo', 14), 'one\ntwo');
    assert.equal(fittingText('\u0001'.repeat(20), 62).length, 10);
  });
});
