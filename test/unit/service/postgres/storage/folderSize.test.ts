import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { folderSize } from '../../../../../src/service/postgres/storage/privateFiles.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('folderSize', () => {
  it('counts the files of all folders', async () => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, 'base/5'), { recursive: true });
    for (const file of ['PG_VERSION', 'base/5/1259']) writeFileSync(path.join(folder, file), 'text');
    assert.equal(await folderSize(folder), 8);
  });
});
