import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { windowsProgram } from '../../../../../src/base/programs/windowsProgram.ts';
import { stopOrphanServer } from '../../../../../src/service/postgres/server/orphans.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { onPlatform } from '../../../../helpers/onPlatform.ts';
import { withVariables } from '../../../../helpers/withVariables.ts';

describe('stopOrphanServer', () => {
  it('stops a server of Windows by pg_ctl, because all of its processes would outlive a killed one', async function () {
    if (process.platform === 'win32') return this.skip(); // Programs can't be scripts there.
    const folder = temporaryFolder();
    const program = (name: string, script: string) =>
      writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    program('pg_ctl.exe', `echo "$@" >"${folder}/calls" && kill -s "$2" "$3"`);
    program(windowsProgram('WindowsPowerShell', 'v1.0', 'powershell.exe'), 'date -u +%FT%TZ');
    const server = spawn('/bin/sh', ['-c', 'trap "exit 7" INT; echo ready; while :; do sleep 0.05; done']);
    const ended = once(server, 'exit');
    await once(server.stdout, 'data');
    const startedAt = Math.floor(Date.now() / 1000);
    writeFileSync(path.join(folder, 'postmaster.pid'), `${server.pid}\n${folder}\n${startedAt}\n`);
    await withVariables({ PATH: `${folder}:${process.env['PATH']}` }, async () =>
      onPlatform('win32', async () =>
        assert.equal(await stopOrphanServer(folder, path.join(folder, 'postgres.exe')), true),
      ),
    );
    assert.deepEqual(await ended, [7, null]);
    assert.equal(readFileSync(path.join(folder, 'calls'), 'utf8'), `kill INT ${server.pid}\n`);
  });
});
