import { answers, executed, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../../src/base/event.ts';
import { until } from '../../../../workbench/until.ts';

const { offerNewService } = await import('../../../../../src/extension/signIn/ui/offerNewService.ts');

describe('The offer to restart the local service', () => {
  beforeEach(() => void (answers.length = questions.length = executed.length = 0));

  it('starts it again only if the user wants it', async () => {
    const joined = new Emitter<void>();
    const offer = offerNewService({ onDidJoinEarlier: joined.event });
    answers.push(undefined, 'Restart Local Service');
    joined.fire();
    await until('the question', async () => questions.length === 1);
    assert.match(questions.join(), /^The local service still runs an earlier version/);
    joined.fire();
    await until('the restart', async () => executed.length === 1);
    assert.deepEqual(executed, [['hostedPostgres.localService.start']]);
    offer.dispose();
    joined.fire();
    assert.equal(questions.length, 2);
  });
});
