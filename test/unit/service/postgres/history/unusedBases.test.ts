import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { removeUnusedBases, writeHistory } from '../../../../../src/service/postgres/history/history.ts';
import { openStorage } from '../../../../../src/service/postgres/storage/storage.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('removeUnusedBases', () => {
  it('keeps the bases of branches, also of those that a newer account has again', async () => {
    const storage = openStorage(temporaryFolder());
    const inStorage = (...names: string[]) => path.join(storage.root, ...names);
    for (const name of ['aa', 'bb', 'cc', 'dd']) mkdirSync(inStorage('bases', name));
    const users = { 'branches/br-a': 'aa', 'unrecorded/br-b': 'bb', 'unrecorded/br-b.2': 'cc' };
    for (const [user, base] of Object.entries(users)) {
      mkdirSync(inStorage(user), { recursive: true });
      writeHistory(inStorage(user), [{ folder: `bases/${base}`, start: 1, end: 2, time: 3, bytes: 4 }]);
    }
    await removeUnusedBases(storage);
    assert.deepEqual(readdirSync(inStorage('bases')).toSorted(), ['aa', 'bb', 'cc']);
  });
});
