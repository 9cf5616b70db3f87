import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readChosenFile, readOwnJson, readUserFile } from '../../../src/base/files.ts';
import { FakeClock } from '../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('readUserFile', () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  const read = (name: string, clock?: FakeClock) => readUserFile(file(name), [folder], clock && { clock });

  before(function () {
    if (process.platform === 'win32') this.skip(); // Has no FIFOs, and ordinary users can't create links.
  });
  beforeEach(() => {
    folder = path.join(realpathSync(temporaryFolder()), 'workspace');
    mkdirSync(folder);
    writeFileSync(file('a'), 'text');
  });

  it('returns the bytes and the path with links resolved', async () => {
    symlinkSync('a', file('link'));
    for (const name of ['a', 'link'])
      assert.deepEqual(await read(name), { path: file('a'), bytes: Buffer.from('text') });
    writeFileSync(file('long'), 'x'.repeat(1024 * 1024));
    assert.equal((await read('long')).bytes?.length, 1024 * 1024);
  });

  it('returns neither bytes nor a problem for a file that does not exist', async () => {
    for (const name of ['missing', 'missing/b', 'a/b'])
      assert.deepEqual(await read(name), { path: file(name) });
  });

  it('says why a file cannot be used', async () => {
    execFileSync('mkfifo', [file('fifo')]);
    for (const [link, target] of [
      ['endless', '/dev/zero'],
      ['outside', '../outside'],
      ['broken', 'nothing'],
      ['circle', 'circle'],
      ['up', '..'],
    ] as const)
      symlinkSync(target, file(link));
    writeFileSync(path.join(folder, '..', 'outside'), '');
    writeFileSync(file('large'), 'x'.repeat(1024 * 1024 + 1));
    for (const [name, problem] of [
      ['fifo', 'noFile'],
      ['.', 'noFile'],
      ['endless', 'outside'],
      ['outside', 'outside'],
      ['up/outside', 'outside'],
      ['broken', 'brokenLink'],
      ['circle', 'unreadable'],
      ['large', 'tooLarge'],
    ] as const)
      assert.deepEqual(await read(name), { path: file(name), problem }, name);
    assert.deepEqual(await readUserFile('/dev/zero', ['/dev']), { path: '/dev/zero', problem: 'noFile' });
    // Its size is reported as 0.
    if (process.platform === 'linux')
      assert.deepEqual((await readUserFile('/proc/version', ['/proc'])).bytes, readFileSync('/proc/version'));
  });

  it('gives up files that do not answer in time, also those that wait for them', async () => {
    const clock = new FakeClock();
    const results = Array.from({ length: 5 }, () => read('a', clock));
    assert.deepEqual(clock.waits, Array(5).fill(10_000));
    while (clock.waits.length > 0) clock.next();
    for (const result of await Promise.all(results))
      assert.deepEqual(result, { path: file('a'), problem: 'tooSlow' });
    assert.equal((await read('a', clock)).bytes?.toString(), 'text');
    assert.deepEqual(clock.waits, []);
  });
});

describe('readOwnJson', () => {
  let file: string;

  beforeEach(() => {
    file = path.join(temporaryFolder(), 'service.json');
    writeFileSync(file, '{"pid":1}', { mode: 0o600 });
  });

  it('reads a JSON object', () => {
    assert.deepEqual(readOwnJson(file), { pid: 1 });
  });

  it('reads nothing from a file that is missing or not a JSON object', () => {
    for (const text of ['{"pid":', '[1]', '1', 'null']) {
      writeFileSync(file, text);
      assert.deepEqual({ ...readOwnJson(file) }.pid, undefined, text);
    }
    assert.deepEqual(readOwnJson(`${file}.missing`), {});
  });

  it('reads nothing from a link or a folder', () => {
    const [link, folder] = [`${file}.link`, `${file}.folder`];
    symlinkSync(file, link);
    mkdirSync(folder);
    assert.deepEqual([readOwnJson(link), readOwnJson(folder)], [{}, {}]);
  });

  it('reads a file that others can read and run, but none that they can write', function () {
    // Windows has no modes.
    if (process.platform === 'win32') this.skip();
    chmodSync(file, 0o755);
    assert.deepEqual(readOwnJson(file), { pid: 1 });
    for (const mode of [0o620, 0o602]) {
      chmodSync(file, mode);
      assert.deepEqual(readOwnJson(file), {}, mode.toString(8));
    }
  });
});

describe('readChosenFile', () => {
  it('reads up to a number of bytes, for any size that the system reports', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'a');
    writeFileSync(file, 'text');
    assert.equal((await readChosenFile(file, 4)).toString(), 'text');
    await assert.rejects(readChosenFile(file, 3), /is larger than 3 bytes/);
    await assert.rejects(readChosenFile(folder), /isn't a file|EISDIR/);
    if (process.platform !== 'linux') return;
    assert.deepEqual(await readChosenFile('/proc/version'), readFileSync('/proc/version'));
    await assert.rejects(readChosenFile('/dev/zero'), /isn't a file/);
  });
});
