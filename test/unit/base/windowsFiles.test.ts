/** Windows neither replaces nor removes a file that is open. These tests imitate that, as far as it can be on another system. */
import assert from 'node:assert/strict';
import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { renameOverSync, replaceFile } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

const refused = () => Object.assign(new Error('EPERM'), { code: 'EPERM' });

/** Makes both `rename` and `renameSync` fail twice for all modules, as while a virus scanner has the file open. */
async function whileInUse(run: () => unknown): Promise<void> {
  const { rename } = fs.promises;
  const { renameSync } = fs;
  let attempts = 0;
  const attempt = () => {
    if ((attempts += 1) <= 2) throw refused();
  };
  const replaced = [
    mock.method(fs, 'renameSync', (from: fs.PathLike, to: fs.PathLike) => {
      attempt();
      renameSync(from, to);
    }),
    mock.method(fs.promises, 'rename', async (from: fs.PathLike, to: fs.PathLike) => {
      attempt();
      await rename(from, to);
    }),
  ];
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    for (const each of replaced) each.mock.restore();
    syncBuiltinESMExports();
  }
}

describe('On Windows', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'old');
    writeFileSync(path.join(folder, 'new'), 'new');
    writeFileSync(file, 'old');
  });
  const move = () => renameOverSync(path.join(folder, 'new'), file);

  describe('renameOverSync', () => {
    it('tries again while the file is in use', async () => {
      await whileInUse(() => onPlatform('win32', move));
      assert.equal(readFileSync(file, 'utf8'), 'new');
      assert.ok(!existsSync(path.join(folder, 'new')));
    });

    it('fails at once on other systems, and for another reason', async () => {
      await whileInUse(() => onPlatform('linux', () => assert.throws(move, { code: 'EPERM' })));
      const missing = () => renameOverSync(path.join(folder, 'missing'), file);
      await onPlatform('win32', () => assert.throws(missing, { code: 'ENOENT' }));
    });
  });

  describe('replaceFile', () => {
    it('tries again while the file is in use, and checks it each time', async () => {
      let checks = 0;
      const check = () => void (checks += 1);
      await whileInUse(() => onPlatform('win32', () => replaceFile(file, 'new', { check })));
      assert.equal(readFileSync(file, 'utf8'), 'new');
      assert.equal(checks, 3);
    });

    it('leaves the file if it has changed in the meantime', async () => {
      let checks = 0;
      const changed = new Error('changed');
      const check = () => {
        if ((checks += 1) === 2) throw changed;
      };
      await whileInUse(() =>
        onPlatform('win32', () => assert.rejects(replaceFile(file, 'new', { check }), changed)),
      );
      assert.equal(readFileSync(file, 'utf8'), 'old');
      assert.deepEqual(readdirSync(folder), ['new', 'old']);
    });
  });
});
