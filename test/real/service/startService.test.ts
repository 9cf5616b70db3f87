import assert from 'node:assert/strict';
import { FakeClock } from '../../helpers/fakeClock.ts';
import { until } from '../../workbench/until.ts';
import { PROJECT } from './controlPlane/sampleProject.ts';
import { FaultyEngine, START_TIME, startInProcess } from './inProcess.ts';

describe('startService', () => {
  it('waits 100 ms for the addresses of computes, and then serves the API without them', async () => {
    const [engine, clock] = [new FaultyEngine(), new FakeClock(START_TIME)];
    const { promise: recovery, resolve: recover } = Promise.withResolvers<void>();
    engine.attach = () => recovery;
    let hasStarted = false;
    const starting = startInProcess({ engine, clock }).finally(() => (hasStarted = true));
    await until('the limit', async () => clock.waits.includes(100));
    clock.advance(99);
    await new Promise(setImmediate);
    assert.equal(hasStarted, false);
    clock.advance(1);
    const service = await starting;
    assert((await service.client.listComputes(PROJECT)).items.length > 0);
    recover();
    await service.stop();
  });
});
