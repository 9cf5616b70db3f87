import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import { inBackground, runProgram } from '../../../../../src/service/postgres/server/runProgram.ts';
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

describe('A program in the background', () => {
  it('leads a process group, so that it can be ended with its children', async () => {
    await onPlatform('linux', () => assert.deepEqual(inBackground(), { detached: true, windowsHide: true }));
    await onPlatform('darwin', () => assert.equal(inBackground().detached, true));
  });

  it('shares a hidden console with its children on Windows', async () => {
    await onPlatform('win32', () => assert.deepEqual(inBackground(), { detached: false, windowsHide: true }));
  });
});
