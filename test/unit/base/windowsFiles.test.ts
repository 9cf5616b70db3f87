/** Windows neither replaces nor removes a file that is open. These tests imitate that, as far as it can be on another system. */
import assert from 'node:assert/strict';
import fs, { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { changeFile } from '../../../src/base/changeFile.ts';
import { renameOverSync, replaceFile } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

const refused = () => Object.assign(new Error('EPERM'), { code: 'EPERM' });

/**
 * Makes both `rename` and `renameSync` fail twice for all modules, as while a virus scanner has the file open.
 * @param meanwhile called before each attempt, with its number
 */
async function whileInUse(
  run: () => unknown,
  meanwhile: (attempt: number) => void = () => undefined,
): Promise<void> {
  const { rename } = fs.promises;
  const { renameSync } = fs;
  let attempts = 0;
  const attempt = () => {
    attempts += 1;
    meanwhile(attempts);
    if (attempts <= 2) throw refused();
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

  describe('changeFile', () => {
    const addOwn = () =>
      changeFile(file, (text) =>
        text?.includes('own') === true ? text : Buffer.from(`${String(text)} own`),
      );
    const lines = () => readFileSync(file, 'utf8').split(' ').toSorted();

    it('keeps what another program appends up to the moment in which the file is replaced', async () => {
      const append = (attempt: number) => appendFileSync(file, ` other${attempt}`);
      await whileInUse(() => onPlatform('win32', addOwn), append);
      assert.deepEqual(lines(), ['old', 'other1', 'other2', 'other3', 'own']);
      assert.deepEqual(readdirSync(folder), ['new', 'old']);
    });

    it('keeps what another program appends while the file is in use, also without hard links', async () => {
      const append = (attempt: number) => attempt === 1 && appendFileSync(file, ' other');
      const link = mock.method(fs.promises, 'link', async () => {
        throw refused();
      });
      await whileInUse(() => onPlatform('win32', addOwn), append).finally(() => link.mock.restore());
      syncBuiltinESMExports();
      assert.equal(link.mock.callCount(), 2);
      assert.deepEqual(lines(), ['old', 'other', 'own']);
    });
  });
});
