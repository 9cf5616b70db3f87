import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { openStorage } from '../../../../../src/service/postgres/storage/storage.ts';
import { runStatementsOnServer } from '../../../../../src/service/postgres/template/runStatements.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('A server that runs the statements of new data', () => {
  it('leaves no port and no folder of its socket if it does not start', async () => {
    const storage = openStorage(temporaryFolder());
    // Node isn't Postgres and ends at once.
    const binaries = { folder: '', postgres: process.execPath, initdb: '', major: 18 };
    const deps = {
      storage,
      binaries,
      logins: { superuser: '' },
      certificate: { certFile: '', keyFile: '' },
      isTemporary: false,
      extensionSettings: {},
      shutdownSignal: new AbortController().signal,
    };
    const sockets = path.dirname(storage.socketFolder('other'));
    const target = { database: 'postgres', settings: {} };
    await assert.rejects(
      runStatementsOnServer(deps, temporaryFolder(), ['select 1'], target),
      /Postgres did not start/,
    );
    assert.deepEqual([...storage.loopbackPorts], []);
    assert.equal(readdirSync(sockets).length, 1);
  });
});
