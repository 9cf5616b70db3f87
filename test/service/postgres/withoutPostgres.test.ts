import assert from 'node:assert/strict';
import { query } from './clients.ts';
import { startControlPlane } from './controlPlane.ts';

describe('engine on a machine without Postgres', () => {
  it('accepts computes and reports to clients what to install', async () => {
    const service = await startControlPlane({ postgresPath: '/nowhere' });
    try {
      const compute = await service.create();
      await service.engine.start(compute);
      await assert.rejects(
        query(`postgresql://app_owner:x@127.0.0.1:${compute.address.port}/app`, 'select 1'),
        { severity: 'FATAL', code: '57P03', message: /No Postgres \d+ or newer .* in \/nowhere/ },
      );
      assert.equal(service.engine.pooler.available, false);
      await assert.rejects(service.engine.catalog('br-main'), /EngineError: No Postgres \d+ or newer/);
      await service.engine.suspend(compute.id);
    } finally {
      await service.close();
    }
  });
});
