import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createProjectDataFolder } from '../../../src/localService/ownFolder.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('createProjectDataFolder', () => {
  it('creates the folder, which Git ignores in a project', () => {
    const folder = path.join(temporaryFolder(), 'own');
    createProjectDataFolder(folder, { isIgnored: true });
    createProjectDataFolder(folder, { isIgnored: true });
    assert.ok(existsSync(path.join(folder, '.gitignore')));
  });

  it("says what to do if it can't be created", () => {
    const file = path.join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    assert.throws(() => createProjectDataFolder(path.join(file, 'own'), { isIgnored: false }), {
      message:
        /^Cannot use the data directory .*own: .*file is a file\. Choose another folder\.\nStart in another folder, or use --data-dir or --temporary\.$/,
    });
  });
});
