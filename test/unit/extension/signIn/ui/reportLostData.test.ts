import { questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../../src/base/event.ts';

const { reportLostData } = await import('../../../../../src/extension/signIn/ui/reportLostData.ts');

describe('reportLostData', () => {
  it('says that the data was deleted and that the sample is new', () => {
    questions.length = 0;
    const lost = new Emitter<void>();
    const reported = reportLostData({ onDidLoseData: lost.event });
    assert.deepEqual(questions, []);
    lost.fire();
    assert.match(String(questions[0]), /data of the local service was deleted\. .* new sample data/);
    reported.dispose();
  });
});
