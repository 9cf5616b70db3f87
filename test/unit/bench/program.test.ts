import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { nextMessage, timeToLine } from '../../../scripts/bench/program.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

function writeProgram(text: string): string {
  const file = path.join(temporaryFolder(), 'program.mjs');
  writeFileSync(file, text);
  return file;
}

describe('A program that is measured', () => {
  it('is not waited for if it ends before its message', async () => {
    const child = fork(writeProgram("process.once('message', () => process.exit(3)); process.send(1);"));
    const ended = once(child, 'exit');
    assert.equal(await nextMessage(child, ended), 1);
    child.send('end');
    await assert.rejects(nextMessage(child, ended), /program\.mjs ended with 3/);
    await assert.rejects(nextMessage(child, ended), /program\.mjs ended with 3/);
  });

  it('fails the measurement if it fails after its first line', async () => {
    const file = writeProgram("console.log('ready'); process.exitCode = 3;");
    await assert.rejects(timeToLine([process.execPath, file], {}), /program\.mjs ended with 3/);
  });
});
