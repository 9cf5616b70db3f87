import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import {
  BranchData,
  type ServerDependencies,
} from '../../../../../src/service/postgres/branchData/branchData.ts';
import { deleteBranchData } from '../../../../../src/service/postgres/copies/changeBranchData.ts';
import { isThere } from '../../../../../src/service/postgres/storage/privateFiles.ts';
import { openStorage } from '../../../../../src/service/postgres/storage/storage.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('deleteBranchData', () => {
  it('removes data that no check finds missing any more', async () => {
    const opened = openStorage(temporaryFolder());
    const wereThere: boolean[] = [];
    const storage: typeof opened = {
      ...opened,
      forgetData(id) {
        wereThere.push(isThere(branches.folder(id)));
        opened.forgetData(id);
      },
    };
    const deps = { storage, binaries: { postgres: 'postgres' } } as ServerDependencies;
    const branches = new BranchData(deps);
    mkdirSync(branches.folder('br-x'), { recursive: true });
    storage.noteData('br-x');
    await deleteBranchData({ ...deps, branches }, 'br-x');
    assert.deepEqual(wereThere, [true]);
    assert(!isThere(branches.folder('br-x')) && !branches.hasData('br-x'));
  });
});
