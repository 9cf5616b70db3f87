/** Windows neither replaces nor removes a file that is open. These tests imitate that, as far as it can be on another system. */
import assert from 'node:assert/strict';
import fs, { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { Journal } from '../../src/service/state/journal.ts';
import { renameOver } from '../../src/service/core/rename.ts';
import type { Change } from '../../src/service/state/storedRecords.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { onPlatform } from '../helpers/onPlatform.ts';

const refused = () => Object.assign(new Error('EPERM'), { code: 'EPERM' });

/** Replaces `renameSync` for all modules. */
async function withRename(rename: typeof fs.renameSync, run: () => unknown): Promise<void> {
  const replaced = mock.method(fs, 'renameSync', rename);
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    replaced.mock.restore();
    syncBuiltinESMExports();
  }
}

function isOpen(file: fs.PathLike): boolean {
  return readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false; // The descriptor of the listing itself.
    }
  });
}

describe('renameOver', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(path.join(folder, 'new'), 'new');
    writeFileSync(path.join(folder, 'old'), 'old');
  });
  const move = () => renameOver(path.join(folder, 'new'), path.join(folder, 'old'));

  /** Fails twice, as while a virus scanner has the file open. */
  const failsTwice = () => {
    const { renameSync } = fs;
    let failures = 0;
    return (from: fs.PathLike, to: fs.PathLike) => {
      if ((failures += 1) <= 2) throw refused();
      renameSync(from, to);
    };
  };

  it('replaces a file', () => {
    move();
    assert.equal(readFileSync(path.join(folder, 'old'), 'utf8'), 'new');
    assert.ok(!existsSync(path.join(folder, 'new')));
  });

  it('tries again on Windows while the file is in use', async () => {
    await withRename(failsTwice(), () => onPlatform('win32', move));
    assert.equal(readFileSync(path.join(folder, 'old'), 'utf8'), 'new');
  });

  it('fails at once on other systems', async () => {
    await withRename(failsTwice(), () => assert.throws(move, { code: 'EPERM' }));
  });

  it('fails at once on Windows for another reason', async () => {
    const missing = () => renameOver(path.join(folder, 'missing'), path.join(folder, 'old'));
    await onPlatform('win32', () => assert.throws(missing, { code: 'ENOENT' }));
  });
});

describe('The journal on Windows', () => {
  it('is compacted although Windows replaces no open file', async function () {
    if (process.platform !== 'linux') return this.skip(); // Needs /proc to see open files.
    const file = path.join(temporaryFolder(), 'journal');
    const text = 'x'.repeat(1024 * 1024);
    const change = { removed: 'key', id: 1, hash: text } satisfies Change;
    let compacted = 0;
    const { renameSync } = fs;
    const rename = (from: fs.PathLike, to: fs.PathLike) => {
      if (isOpen(to)) throw refused();
      compacted += 1;
      renameSync(from, to);
    };
    await withRename(rename, async () => {
      const failures: Error[] = [];
      const journal = Journal.create({
        file,
        snapshot: () => [{ removed: 'key', id: 1 }],
        onFailure: (error) => failures.push(error),
      });
      for (let count = 0; count < 6; count += 1) {
        journal.append([change]);
        await journal.whenDurable();
      }
      await journal.close();
      assert.deepEqual(failures, []);
    });
    assert.equal(compacted, 2, 'once when it was created');
    assert.ok(fs.statSync(file).size < 3 * text.length);
  });
});
