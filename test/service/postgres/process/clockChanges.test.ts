/** Waits of the engine must not depend on the system clock. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { Gateway } from '../../../../src/service/postgres/network/gateway.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

const HOUR = 3_600_000;

describe('engine during clock changes', () => {
  const { now } = Date;
  /** Moves the clock at each reading. */
  const setClockBy = (milliseconds: number) => {
    let reads = 0;
    Date.now = () => now() + (reads += 1) * milliseconds;
  };
  afterEach(() => {
    Date.now = now;
  });

  it('starts a compute for a client when the clock is set forward', async () => {
    const service = await startControlPlane();
    try {
      const uri = await service.uri(await service.create());
      setClockBy(HOUR);
      assert.deepEqual(await query(uri, 'select 1'), [1]);
    } finally {
      await service.close();
    }
  });

  it('gives up a taken port when the clock is set back', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    const target = {
      reach: async () => Promise.reject(new Error('no server')),
      running: () => undefined,
      certificate: { certFile: '', keyFile: '' },
      activity: () => {},
    };
    setClockBy(-HOUR);
    try {
      await assert.rejects(Gateway.listen(port, target), /another program uses it/);
    } finally {
      other.close();
    }
  });
});
