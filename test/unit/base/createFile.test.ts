import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { createFileSync } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('createFileSync', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'file');
  });

  it('creates a file that only this user can read, and keeps one that exists', () => {
    assert.equal(createFileSync(file, 'first'), true);
    assert.equal(createFileSync(file, 'second'), false);
    assert.equal(readFileSync(file, 'utf8'), 'first');
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  describe('on a file system without hard links', () => {
    beforeEach(() => {
      mock.method(fs, 'linkSync', () => {
        throw Object.assign(new Error('EPERM: link'), { code: 'EPERM' });
      });
      syncBuiltinESMExports();
    });
    afterEach(() => {
      mock.restoreAll();
      syncBuiltinESMExports();
    });

    it('creates the file only once', () => {
      assert.equal(createFileSync(file, 'first'), true);
      assert.equal(createFileSync(file, 'second'), false);
      assert.equal(readFileSync(file, 'utf8'), 'first');
      assert.deepEqual(readdirSync(folder), ['file']);
    });

    it('waits for a process that is creating it, unless that was killed', () => {
      let isAlive = false;
      mkdirSync(`${file}.lock`);
      const wait = mock.method(Atomics, 'wait', () => {
        if (isAlive) rmSync(`${file}.lock`, { recursive: true });
        return 'timed-out' as const;
      });
      assert.equal(createFileSync(file, 'first'), true);
      assert.equal(wait.mock.callCount(), 99);
      isAlive = true;
      mkdirSync(`${file}.lock`);
      assert.equal(createFileSync(file, 'second'), false);
      assert.equal(wait.mock.callCount(), 100);
      assert.deepEqual(readdirSync(folder), ['file']);
    });
  });

  it('creates the file only once on a real disk without hard links', function () {
    const disk = mountedExfat(folder);
    if (disk === undefined) return this.skip(); // Needs root, a loop device and exFAT.
    try {
      assert.equal(createFileSync(file, 'first'), true);
      assert.throws(() => linkSync(file, path.join(folder, 'link')), { code: 'EPERM' });
      assert.equal(createFileSync(file, 'second'), false);
      assert.equal(readFileSync(file, 'utf8'), 'first');
      assert.deepEqual(readdirSync(folder), ['file']);
    } finally {
      disk.unmount();
    }
  });

  it('throws if the folder does not exist', () =>
    assert.throws(() => createFileSync(path.join(file, 'file'), ''), { code: 'ENOENT', syscall: 'open' }));
});

/** Mounts an empty disk, by the kernel or FUSE. @returns undefined if that isn't possible here */
function mountedExfat(folder: string): { readonly unmount: () => void } | undefined {
  const run = (program: string, ...args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' });
  const image = path.join(temporaryFolder(), 'image');
  writeFileSync(image, Buffer.alloc(8 * 1024 * 1024));
  if (run('mkfs.exfat', image).status !== 0) return undefined;
  const { status, stdout } = run('losetup', '--find', '--show', image);
  if (status !== 0) return undefined;
  const device = stdout.trim();
  const detach = () => run('losetup', '--detach', device);
  const programs = [['mount', '-t', 'exfat'], ['mount.exfat-fuse']] as const;
  if (!programs.some(([program, ...args]) => run(program, ...args, device, folder).status === 0)) {
    detach();
    return undefined;
  }
  return {
    unmount: () => {
      execFileSync('umount', [folder]);
      detach();
    },
  };
}
