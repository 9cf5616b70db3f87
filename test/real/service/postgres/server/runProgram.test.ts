import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { backgroundOptions, runProgram } from '../../../../../src/service/postgres/server/runProgram.ts';
import { isAlive } from '../../../../../src/base/programs/isAlive.ts';
import { clusterArguments } from '../../../../../src/service/postgres/template/clusterTemplate.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { until } from '../../../../workbench/until.ts';
import { usualPostgres } from '../usualPostgres.ts';
import { onPlatform } from '../../../../helpers/onPlatform.ts';

describe('runProgram', () => {
  const failsWith = (message: string) =>
    runProgram(process.execPath, ['-e', `console.error(${JSON.stringify(message)}); process.exit(1)`], {
      cwd: os.tmpdir(),
    });

  it("throws the program's reason", async () => {
    const message = 'LOG:  starting\nFATAL:  no space\nDETAIL:  none at all\n';
    await assert.rejects(failsWith(message), { name: 'EngineError', message: 'no space none at all' });
  });

  it('finds it after the time and process that initdb repeats', async () => {
    const message =
      '2026-11-26 23:38:14.908 UTC [16215] FATAL:  no space\nchild process exited with exit code 1\n';
    await assert.rejects(failsWith(message), { message: 'no space' });
  });

  it('says what to do if the program was removed', async () => {
    const program = path.join(os.tmpdir(), 'no', 'postgres');
    const gone = `${program} is gone, for example because npm emptied its cache. Start the local service again.`;
    await assert.rejects(runProgram(program, [], { cwd: os.tmpdir() }), {
      name: 'EngineError',
      message: gone,
    });
  });

  it('says what to do if Postgres refuses to run as administrator', async () => {
    const message =
      'Execution of PostgreSQL by a user with administrative permissions is not\npermitted.\n' +
      'The server must be started under an unprivileged user ID to prevent\npossible system security compromises.';
    await assert.rejects(
      failsWith(message),
      /does not run as administrator\. Start VS Code, or the service, as/,
    );
  });
});

describe('A program that is no longer needed', () => {
  /** Starts itself again, as initdb does without the rights of an administrator, and writes the process id. */
  const PROGRAM = `const { spawn } = require('node:child_process');
    const options = { stdio: 'inherit', detached: process.platform === 'win32' };
    const again = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], options);
    require('node:fs').writeFileSync(process.argv[1], again.pid + ' ');
    setInterval(() => {}, 1000);`;

  it('ends with the programs that it has started', async () => {
    const file = path.join(temporaryFolder(), 'pid');
    const stop = new AbortController();
    const options = { cwd: os.tmpdir(), signal: stop.signal };
    const run = runProgram(process.execPath, ['-e', PROGRAM, file], options);
    const written = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    await until('the second program', async () => written().endsWith(' '));
    const pid = Number(written());
    assert.ok(isAlive(pid));
    stop.abort();
    await assert.rejects(run, /aborted/);
    await until('its end', async () => !isAlive(pid));
  });

  it('may be initdb, which Windows runs without the rights of an administrator', async function () {
    // With the rights of root, it doesn't run.
    if (process.getuid?.() === 0) return this.skip();
    const folder = path.join(temporaryFolder(), 'data');
    const stop = new AbortController();
    const { initdb, major } = usualPostgres();
    const options = { cwd: path.dirname(folder), signal: stop.signal };
    const run = runProgram(initdb, ['-D', folder, ...clusterArguments(major), '--auth=trust'], options);
    await until('its first files', async () => existsSync(path.join(folder, 'postgresql.conf')));
    stop.abort();
    await assert.rejects(run, /aborted/);
    // The database `postgres` comes last.
    assert.ok(!existsSync(path.join(folder, 'base', '5')));
    rmSync(folder, { recursive: true });
  });
});

describe('A program in the background', () => {
  it('leads a process group, so that it can be ended with its children', async () => {
    await onPlatform('linux', () =>
      assert.deepEqual(backgroundOptions(), { detached: true, windowsHide: true }),
    );
    await onPlatform('darwin', () => assert.equal(backgroundOptions().detached, true));
  });

  it('shares a hidden console with its children on Windows', async () => {
    await onPlatform('win32', () =>
      assert.deepEqual(backgroundOptions(), { detached: false, windowsHide: true }),
    );
  });
});
