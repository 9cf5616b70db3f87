import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtService } from '../helpers/builtService.ts';
import { SIMULATED, temporaryFolder } from '../helpers/localService.ts';

describe('The log file of the local service', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('starts again when it is full, if it is that of the extension', async () => {
    const size = 11 * 1024 * 1024;
    for (const [args, isEmptied] of [
      [['--end-with-leases', '60000'], true],
      [[], false],
    ] as const) {
      const file = path.join(folder, 'service.log');
      writeFileSync(file, `${'x'.repeat(size)}\n`);
      const log = openSync(file, 'a');
      const quick = ['--no-postgres', '--port', '0', '--data-dir', folder, '--api-key', 'k'];
      const program = [await builtService(), ...quick, ...args];
      const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', log] });
      closeSync(log);
      await once(child.stdout ?? assert.fail('no output'), 'data');
      child.kill('SIGTERM');
      await once(child, 'exit');
      const text = readFileSync(file, 'utf8');
      assert.match(text.slice(-200), SIMULATED);
      assert.equal(text.length < size, isEmptied);
    }
  });
});
