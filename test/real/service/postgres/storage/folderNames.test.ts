import assert from 'node:assert/strict';
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { findPooler } from '../../../../../src/service/postgres/server/programs.ts';
import { openStorage } from '../../../../../src/service/postgres/storage/storage.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

describe('data directory', () => {
  let parent: string;
  before(() => {
    parent = temporaryFolder();
    // If `nobody` couldn't enter the folder, a service of root would store its data in another one, with a simple name.
    chmodSync(parent, 0o755);
  });

  // Characters with a meaning for Postgres, its clients or PgBouncer, and characters of several bytes.
  for (const name of [`a b'c ä#b"c`, `a,b ${'é'.repeat(40)}`]) {
    it(`may be named ${name.slice(0, 10)}`, async () => {
      const service = await startControlPlane({ dataDir: path.join(parent, name) });
      const poolerEnabled = findPooler() !== undefined;
      const primary = await service.create({ poolerEnabled });
      const replica = await service.create({ type: 'read_only' });
      assert.deepEqual(await query(await service.uri(primary), 'select 1'), [1]);
      assert.deepEqual(await query(await service.uri(replica), 'select 2'), [2]);
      if (poolerEnabled) assert.deepEqual(await query(await service.uri(primary, true), 'select 3'), [3]);
    });
  }

  it('has its sockets in /tmp if its path and that of the temporary folder are too long', () => {
    const { TMPDIR } = process.env;
    const deep = path.join(parent, 'deep'.repeat(25));
    mkdirSync(deep);
    process.env['TMPDIR'] = deep;
    const storage = openStorage(path.join(deep, 'data'));
    try {
      assert.match(storage.socketFolder('br-main'), /^\/tmp\/hpg-[^/]+\/[^/]+$/);
    } finally {
      storage.removeSockets();
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
  });
});
