/** Postgres on Windows doesn't run as administrator, but `pg_ctl` starts it without these rights. Here, a script refuses to run without it. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { shellQuoted } from '../../../../../src/service/postgres/server/postmaster.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { onPlatform } from '../../../../helpers/onPlatform.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';
import { usualPostgres } from '../usualPostgres.ts';

const MESSAGE = 'Execution of PostgreSQL by a user with administrative permissions is not\\npermitted.';

/** @returns the folder of a Postgres that runs only if `pg_ctl` has started it */
function postgresForOthers(parts: readonly string[]): string {
  const found = usualPostgres();
  const root = temporaryFolder();
  chmodSync(root, 0o755);
  for (const part of ['lib', 'share'])
    symlinkSync(path.join(found.folder, '..', part), path.join(root, part));
  const folder = path.join(root, 'bin');
  mkdirSync(folder);
  for (const name of parts) {
    const reads = ['--version', '--describe-config', '-C'].map((option) => `[ "$1" = ${option} ]`);
    const isAllowed = [...reads, '[ -n "$PG_GRANDPARENT_PID" ]'].join(' || ');
    const refuse = `${isAllowed} || { printf '${MESSAGE}' >&2; exit 1; }`;
    const script = `#!/bin/sh\n${name === 'postgres' ? refuse : ''}\nexec '${found.folder}/${name}' "$@"\n`;
    writeFileSync(path.join(folder, name), script, { mode: 0o755 });
  }
  return folder;
}

describe('a service that an administrator has started', () => {
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it('starts and stops Postgres by pg_ctl', async () => {
    const service = await startControlPlane({
      postgresPath: postgresForOthers(['postgres', 'initdb', 'pg_ctl']),
    });
    const compute = await service.create({ pgSettings: { work_mem: '5MB' } });
    const uri = await service.uri(compute);
    await query(uri, 'create table t as select 1 as n');
    assert.deepEqual(await query(uri, 'show work_mem'), ['5MB']);
    await service.change(compute, { pgSettings: { work_mem: '6MB' } });
    await service.engine.suspend(compute.id);
    const pidFile = path.join(service.dataDir, 'postgres/branches/br-main/data/postmaster.pid');
    assert.equal(existsSync(pidFile), false);
    assert.deepEqual(await query(uri, 'select n from t'), [1]);
    assert.deepEqual(await query(uri, 'show work_mem'), ['6MB']);
    assert.deepEqual(service.crashed, []);
  });

  it('says what to do without pg_ctl', async () => {
    const service = await startControlPlane({ postgresPath: postgresForOthers(['postgres', 'initdb']) });
    const compute = await service.create();
    const message = /does not run as administrator\. Start VS Code, or the service, as an ordinary user/;
    await assert.rejects(service.uri(compute), message);
  });

  it('quotes arguments for the shell', async () => {
    const [path, apostrophe] = ['-c data=C:\\a b\\', "it's"];
    await onPlatform('win32', () => assert.equal(shellQuoted(path), '"-c data=C:\\a b\\\\"'));
    await onPlatform('linux', () => assert.equal(shellQuoted(apostrophe), `'it'\\''s'`));
  });
});
