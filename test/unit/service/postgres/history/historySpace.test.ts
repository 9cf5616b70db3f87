import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { readDiskSpace } from '../../../../../src/service/postgres/history/historySpace.ts';

describe('readDiskSpace', () => {
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  /** Sizes in GB. */
  const disk = (size: number, free: number) => {
    mock.method(fs, 'statfs', async () => ({ bsize: 1024 ** 3, blocks: size, bavail: free }));
    syncBuiltinESMExports();
    return readDiskSpace({ root: '' });
  };

  it('needs 5 GB of a large disk, although that is less than a tenth', async () => {
    assert.deepEqual(await disk(500, 6), { isFree: true, needed: '5 GB' });
    assert.deepEqual(await disk(500, 5), { isFree: false, needed: '5 GB' });
  });

  it('needs a tenth of a small disk', async () => {
    assert.deepEqual(await disk(25, 3), { isFree: true, needed: '2.5 GB' });
    assert.deepEqual(await disk(25, 2), { isFree: false, needed: '2.5 GB' });
    assert.deepEqual(await disk(5, 1), { isFree: true, needed: '512 MB' });
  });
});
