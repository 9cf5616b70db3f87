import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { findProgram } from '../../../../src/base/programs/findProgram.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';

describe('findProgram', () => {
  const NAME = 'program-for-this-test';
  const file = process.platform === 'win32' ? `${NAME}.exe` : NAME;
  const pathBefore = process.env['PATH'];
  let first: string;
  let second: string;

  const setPath = (text: string | undefined) => {
    if (text === undefined) delete process.env['PATH'];
    else process.env['PATH'] = text;
  };

  before(async () => {
    first = await mkdtemp(path.join(os.tmpdir(), 'find-program-'));
    second = await mkdtemp(path.join(os.tmpdir(), 'find-program-'));
    for (const folder of [first, second]) await writeFile(path.join(folder, file), '', { mode: 0o755 });
  });
  afterEach(() => setPath(pathBefore));
  after(async () => {
    for (const folder of [first, second]) await rm(folder, { recursive: true });
  });

  it('looks into the given folders, then into PATH', () => {
    setPath([os.tmpdir(), second].join(path.delimiter));
    assert.equal(findProgram(NAME, [os.tmpdir(), first]), path.join(first, file));
    assert.equal(findProgram(NAME), path.join(second, file));
    assert.equal(findProgram('no-such-program', [first]), undefined);
  });

  it('finds a file with the extension exe on Windows', async () => {
    const program = path.join(second, 'another-program.exe');
    await writeFile(program, '', { mode: 0o755 });
    await onPlatform('win32', () => assert.equal(findProgram('another-program', [first, second]), program));
  });

  it('finds nothing without PATH', () => {
    setPath(undefined);
    assert.equal(findProgram(NAME), undefined);
  });

  it('skips relative folders', () => {
    setPath('');
    const folderBefore = process.cwd();
    process.chdir(path.dirname(first));
    try {
      assert.equal(findProgram(NAME, [path.basename(first)]), undefined);
    } finally {
      process.chdir(folderBefore);
    }
  });

  it('skips a file that cannot be run', async function () {
    if (process.platform === 'win32') return this.skip();
    await chmod(path.join(first, file), 0o644);
    assert.equal(findProgram(NAME, [first, second]), path.join(second, file));
  });
});
