import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  linkSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { renameOverSync, replaceFile } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

describe('replaceFile', () => {
  const isWindows = process.platform === 'win32';
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'file');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('creates a file with these permissions', async () => {
    await replaceFile(file, 'new', { mode: 0o600 });
    assert.equal(readFileSync(file, 'utf8'), 'new');
    if (!isWindows) assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  it('keeps the permissions of an existing file, and as root its owner', async function () {
    if (isWindows) this.skip(); // Windows has neither.
    writeFileSync(file, 'old');
    chmodSync(file, 0o644);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(file, 12_345, 12_346);
    await replaceFile(file, Buffer.from('new'), { mode: 0o600 });
    const { mode, uid, gid } = statSync(file);
    assert.equal(mode & 0o777, 0o644);
    if (isRoot) assert.deepEqual([uid, gid], [12_345, 12_346]);
    assert.equal(readFileSync(file, 'utf8'), 'new');
  });

  /** Replaces the file with another `sync`, which is called for the file and then for its folder. */
  const replaceWithSync = async (sync: (call: number) => void) => {
    writeFileSync(file, 'old');
    const handle = await open(file);
    let calls = 0;
    const mocked = mock.method(Object.getPrototypeOf(handle), 'sync', async () => sync((calls += 1)));
    await handle.close();
    await replaceFile(file, 'new').finally(() => mocked.mock.restore());
  };

  it('is complete on the disk before it gets its name, which then is as well', async function () {
    if (isWindows) this.skip(); // There, folders can't be synchronized.
    const states: string[] = [];
    await replaceWithSync(() => void states.push(readFileSync(file, 'utf8')));
    assert.deepEqual(states, ['old', 'new']);
  });

  for (const [what, failing, code, after] of [
    ['replaces it on a file system that cannot synchronize', [1, 2], 'EINVAL', 'new'],
    ['keeps the old file if the new one does not get onto the disk', [1], 'EIO', 'old'],
    ['reports no failure once the new content is in place', [2], 'EIO', 'new'],
  ] as const)
    it(`${what} (${code})`, async () => {
      const replaced = replaceWithSync((call) => {
        if (failing.some((each) => each === call)) throw Object.assign(new Error(code), { code });
      });
      await (after === 'new' ? replaced : assert.rejects(replaced, { code }));
      assert.equal(readFileSync(file, 'utf8'), after);
      assert.deepEqual(readdirSync(folder), ['file']);
    });

  it('leaves no file or folder open', async function () {
    if (process.platform !== 'linux') return this.skip();
    await replaceFile(file, 'new');
    const open = readdirSync('/proc/self/fd').flatMap((descriptor) => {
      const link = `/proc/self/fd/${descriptor}`;
      return existsSync(link) ? [readlinkSync(link)] : [];
    });
    assert.deepEqual(
      open.filter((target) => target.startsWith(folder)),
      [],
    );
  });

  it('replaces the file right after the check, also while all threads are busy', async () => {
    writeFileSync(file, 'old');
    const check = () => {
      for (let thread = 0; thread < 8; thread += 1) pbkdf2('', '', 30_000, 64, 'sha512', () => undefined);
      setImmediate(() => writeFileSync(file, 'later'));
    };
    await replaceFile(file, 'new', { check });
    assert.equal(readFileSync(file, 'utf8'), 'later');
  });

  it('overwrites what a killed process left behind', async () => {
    const temporary = `${file}.new`;
    writeFileSync(temporary, 'unfinished', { mode: 0o400 });
    await replaceFile(file, 'new', { temporary });
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  for (const link of [symlinkSync, linkSync])
    it(`does not write through a link (${link.name})`, async function () {
      if (isWindows) this.skip(); // Ordinary users can't create links.
      const other = path.join(folder, 'other');
      writeFileSync(other, 'kept');
      link(other, file);
      await replaceFile(file, 'new');
      assert.ok(!lstatSync(file).isSymbolicLink());
      assert.equal(readFileSync(other, 'utf8'), 'kept');
    });

  it('leaves nothing behind if it fails', async () => {
    mkdirSync(file);
    await assert.rejects(replaceFile(file, 'new'), /EISDIR|EPERM/);
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  describe('of a mounted file, which nothing can be renamed over', () => {
    /** The mounted file is on a separate, small file system. */
    let disk: string;
    let mounts: string[];
    const mount = (...args: readonly string[]) => {
      const target = args.at(-1) ?? '';
      if (spawnSync('mount', args).status !== 0) return false;
      if (!args[1]?.startsWith('remount')) mounts.unshift(target);
      return true;
    };

    beforeEach(function () {
      mounts = [];
      disk = temporaryFolder();
      if (!mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk)) return this.skip(); // Only root may mount.
      writeFileSync(path.join(disk, 'file'), 'a longer text', { mode: 0o640 });
      if (!mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder)) return this.skip();
      writeFileSync(file, '');
      if (!mount('--bind', path.join(disk, 'file'), file)) return this.skip();
    });
    afterEach(() => mounts.forEach((target) => execFileSync('umount', [target])));

    for (const [what, text] of [
      ['shorter', 'new'],
      ['longer', 'new, '.repeat(20)],
      ['empty', ''],
    ] as const)
      it(`overwrites it with ${what} text`, async () => {
        await replaceFile(file, text);
        assert.equal(readFileSync(path.join(disk, 'file'), 'utf8'), text);
        assert.equal(statSync(file).mode & 0o777, 0o640);
        assert.deepEqual(readdirSync(folder), ['file']);
      });

    it('overwrites it in a folder that is read-only', async () => {
      assert.ok(mount('-o', 'remount,ro', folder));
      await replaceFile(file, 'new');
      assert.equal(readFileSync(file, 'utf8'), 'new');
      await assert.rejects(replaceFile(path.join(folder, 'created'), 'new'), /EROFS/);
    });

    it('keeps it on a full disk', async () => {
      await assert.rejects(replaceFile(file, 'new '.repeat(30_000)), /ENOSPC/);
      assert.equal(readFileSync(file, 'utf8'), 'a longer text');
      assert.deepEqual(readdirSync(folder), ['file']);
    });

    it('does not overwrite a file that has another name too', async () => {
      linkSync(path.join(disk, 'file'), path.join(disk, 'other'));
      await assert.rejects(replaceFile(file, 'new'), /is a hard link/);
      assert.equal(readFileSync(path.join(disk, 'other'), 'utf8'), 'a longer text');
    });
  });

  it('overwrites a file in a folder that is not writable', async function () {
    if (isWindows || process.getuid?.() === 0) return this.skip(); // Root can write to it.
    writeFileSync(file, 'old');
    chmodSync(folder, 0o500);
    await replaceFile(file, 'new').finally(() => chmodSync(folder, 0o700));
    assert.equal(readFileSync(file, 'utf8'), 'new');
  });

  it('keeps the old file on a full disk', async function () {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
    if (mounted.status !== 0) return this.skip(); // Only root may mount.
    try {
      const old = 'A=1\n'.repeat(8 * 1024);
      writeFileSync(file, old);
      await assert.rejects(replaceFile(file, `${old}B=2\n`.repeat(2)), /ENOSPC/);
      assert.equal(readFileSync(file, 'utf8'), old);
      await assert.rejects(replaceFile(path.join(folder, 'created'), `${old}${old}`), /ENOSPC/);
      assert.ok(!existsSync(path.join(folder, 'created')));
      assert.deepEqual(readdirSync(folder), ['file']);
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});

describe('renameOverSync', () => {
  const { wait } = Atomics;
  let folder: string;
  let file: string;
  let pauses: number;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'file');
    writeFileSync(file, 'new');
    pauses = 0;
    Atomics.wait = (array: ArrayLike<unknown>, index: number, value: unknown) => {
      // It waits only as long as the array has this value.
      if (array[index] === value) pauses += 1;
      return 'timed-out';
    };
  });
  afterEach(() => void (Atomics.wait = wait));

  it('replaces a file', () => {
    const target = path.join(folder, 'target');
    writeFileSync(target, 'old');
    renameOverSync(file, target);
    assert.equal(readFileSync(target, 'utf8'), 'new');
    assert.deepEqual(readdirSync(folder), ['target']);
  });

  it('tries again only on Windows, and only while the file is in use', async function () {
    if (process.platform !== 'linux') return this.skip(); // Others have another error for this name.
    const inUse = `${folder}/.`;
    assert.throws(() => renameOverSync(file, inUse), { code: 'EBUSY' });
    assert.equal(pauses, 0);
    await onPlatform('win32', () => {
      assert.throws(() => renameOverSync(file, inUse, 3), { code: 'EBUSY' });
      assert.equal(pauses, 2);
      assert.throws(() => renameOverSync(path.join(folder, 'missing'), file), { code: 'ENOENT' });
      assert.equal(pauses, 2);
    });
  });
});
