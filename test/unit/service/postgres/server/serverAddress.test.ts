import assert from 'node:assert/strict';
import {
  chooseFreeAddress,
  chooseFreePort,
} from '../../../../../src/service/postgres/server/serverAddress.ts';

describe('A free port', () => {
  it('differs for each port of a hundred computes that are created at the same time', async () => {
    const addresses = await Promise.all(Array.from({ length: 100 }, async () => chooseFreeAddress()));
    const ports = addresses.flatMap(({ port, poolerPort }) => [port, poolerPort]);
    assert.equal(new Set(ports).size, 200);
  });

  it('is never one that is taken already', async () => {
    const taken = new Set(Array.from({ length: 16_000 }, (_, n) => 15_000 + n));
    assert.ok((await chooseFreePort(taken)) >= 31_000);
  });
});
