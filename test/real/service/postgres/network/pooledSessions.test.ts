import assert from 'node:assert/strict';
import { maxConnections } from '../../../../../src/api/rules/sizes.ts';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { answers, connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

describe('pooled connections without PgBouncer', () => {
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  before(async () => {
    service = await startControlPlane({ withoutPgBouncer: true });
    compute = await service.create({ poolerEnabled: true });
    uri = await service.uri(compute, true);
  });

  it('wake the compute, and each client keeps its session', async () => {
    assert.equal(service.engine.pooledSessions, 'separate');
    const client = await connectTo(uri);
    assert.deepEqual(service.woken, [compute.id]);
    await client.query("set application_name = 'mine'");
    assert.equal((await client.query('show application_name')).rows[0]?.application_name, 'mine');
  });

  it('count as activity, together with direct connections', async () => {
    const clients = [await connectTo(uri), await connectTo(await service.uri(compute))];
    await eventually(() => service.open.get(compute.id) === 2);
    for (const client of clients) await client.end();
    await eventually(() => service.open.get(compute.id) === 0);
  });

  it('are limited by max_connections, with the error of Postgres beyond', async () => {
    const limit = maxConnections(compute.minCu) ?? 0;
    // Postgres reserves three of them for superusers.
    const clients = await Promise.all(Array.from({ length: limit - 3 }, async () => connectTo(uri)));
    await assert.rejects(query(uri, 'select 1'), { severity: 'FATAL', code: '53300' });
    await Promise.all(clients.map(async (client) => client.end()));
    await answers(uri);
  });

  it('are the same when pooling is switched off, and end when the compute is disabled', async () => {
    const client = await connectTo(uri);
    compute = await service.change(compute, { poolerEnabled: false });
    assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }]);
    compute = await service.change(compute, { disabled: true });
    await assert.rejects(client.query('select 1'));
    await assert.rejects(query(uri, 'select 1'), { code: 'ECONNREFUSED' });
  });
});
