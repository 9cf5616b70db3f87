/** Windows neither replaces nor removes a file that is open. These tests imitate that, as far as it can be on another system. */
import assert from 'node:assert/strict';
import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { renameOverSync } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

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

describe('renameOverSync', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(path.join(folder, 'new'), 'new');
    writeFileSync(path.join(folder, 'old'), 'old');
  });
  const move = () => renameOverSync(path.join(folder, 'new'), path.join(folder, 'old'));

  /** Fails twice, as while a virus scanner has the file open. */
  const failsTwice = () => {
    const { renameSync } = fs;
    let failures = 0;
    return (from: fs.PathLike, to: fs.PathLike) => {
      if ((failures += 1) <= 2) throw refused();
      renameSync(from, to);
    };
  };

  it('tries again on Windows while the file is in use', async () => {
    await withRename(failsTwice(), () => onPlatform('win32', move));
    assert.equal(readFileSync(path.join(folder, 'old'), 'utf8'), 'new');
    assert.ok(!existsSync(path.join(folder, 'new')));
  });

  it('fails at once on other systems, and for another reason', async () => {
    await withRename(failsTwice(), () => assert.throws(move, { code: 'EPERM' }));
    const missing = () => renameOverSync(path.join(folder, 'missing'), path.join(folder, 'old'));
    await onPlatform('win32', () => assert.throws(missing, { code: 'ENOENT' }));
  });
});
