import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readOwnFile } from '../../../src/api/localServiceFiles.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('readOwnFile', () => {
  let file: string;

  beforeEach(() => {
    file = path.join(temporaryFolder(), 'service.json');
    writeFileSync(file, '{"pid":1}', { mode: 0o600 });
  });

  it('reads a JSON object', () => {
    assert.deepEqual(readOwnFile(file), { pid: 1 });
  });

  it('reads nothing from a file that is missing or not a JSON object', () => {
    for (const text of ['{"pid":', '[1]', '1', 'null']) {
      writeFileSync(file, text);
      assert.deepEqual({ ...readOwnFile(file) }.pid, undefined, text);
    }
    assert.deepEqual(readOwnFile(`${file}.missing`), {});
  });

  it('reads nothing from a link or a folder', () => {
    const [link, folder] = [`${file}.link`, `${file}.folder`];
    symlinkSync(file, link);
    mkdirSync(folder);
    assert.deepEqual([readOwnFile(link), readOwnFile(folder)], [{}, {}]);
  });

  it('reads a file that others can read, but none that they can write', function () {
    // Windows has no modes.
    if (process.platform === 'win32') this.skip();
    chmodSync(file, 0o644);
    assert.deepEqual(readOwnFile(file), { pid: 1 });
    for (const mode of [0o620, 0o602]) {
      chmodSync(file, mode);
      assert.deepEqual(readOwnFile(file), {}, mode.toString(8));
    }
  });
});
