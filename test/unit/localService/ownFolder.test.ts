import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createReachableDataFolder } from '../../../src/localService/ownFolder.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('createReachableDataFolder', () => {
  it('creates the folder, which Git ignores in a project', () => {
    const folder = path.join(temporaryFolder(), 'own');
    createReachableDataFolder(folder, { ignoreInGit: true });
    createReachableDataFolder(folder, { ignoreInGit: true });
    assert.ok(existsSync(path.join(folder, '.gitignore')));
  });

  it("says what to do if it can't be created", () => {
    const file = path.join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    assert.throws(() => createReachableDataFolder(path.join(file, 'own'), { ignoreInGit: false }), {
      message:
        /^Cannot use the data directory .*own: .*file is a file\. Choose another folder\.\nStart in another folder, or use --data-dir or --temporary\.$/,
    });
  });
});
