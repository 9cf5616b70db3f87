import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  windowRecordFile,
  removeStaleRecords,
  findWindows,
} from '../../../../src/extension/agents/windowRecords.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('The windows for an agent', () => {
  const root = realpathSync(temporaryFolder());
  const pids = async (workingFolder: string | undefined, pid = 0) =>
    (await findWindows(path.join(root, 'agents'), { pid, workingFolder })).map((found) => found.pid);

  before(() => {
    for (const folder of ['agents', 'shop/api/src', 'shop-2'])
      mkdirSync(path.join(root, folder), { recursive: true });
    symlinkSync(path.join(root, 'shop'), path.join(root, 'link'), 'junction');
    for (const [pid, folders, usedAt] of [
      [1, [], 4],
      [2, ['shop'], 1],
      [3, ['shop/api'], 2],
      [4, ['other', 'link'], 3],
    ] as const) {
      const file = windowRecordFile(path.join(root, 'agents'), pid);
      const absolute = folders.map((folder) => path.join(root, folder));
      writeFileSync(file, JSON.stringify({ socket: '', token: '', folders: absolute }));
      utimesSync(file, usedAt, usedAt);
    }
    writeFileSync(path.join(root, 'agents', '5.json'), '{');
    writeFileSync(path.join(root, 'agents', '6.json'), '{}');
  });

  it('are those with its folder first, then the one that was used last', async () => {
    assert.deepEqual(await pids(path.join(root, 'shop', 'api', 'src')), [3, 4, 2, 1]);
    assert.deepEqual(await pids(path.join(root, 'link')), [4, 2, 1, 3]);
    assert.deepEqual(await pids(path.join(root, 'shop-2')), [1, 4, 3, 2]);
    // Its folder is gone.
    assert.deepEqual(await pids(undefined), [1, 4, 3, 2]);
  });

  it('begin with the one that started the program', async () => {
    assert.deepEqual(await pids(path.join(root, 'shop', 'api'), 2), [2, 3, 4, 1]);
  });

  it('are an empty list without a folder of records', async () => {
    assert.deepEqual(await findWindows('', { pid: 0, workingFolder: root }), []);
  });
});

describe('The records of windows that were killed', () => {
  it('are removed by two windows that start at once', async () => {
    const folder = temporaryFolder();
    // The highest process id on Linux is below these.
    for (let pid = 2 ** 22 + 1; pid < 2 ** 22 + 41; pid += 1) {
      const socket = path.join(folder, `${pid}.sock`);
      writeFileSync(windowRecordFile(folder, pid), JSON.stringify({ socket, token: '', folders: [] }));
      if (process.platform !== 'win32') writeFileSync(socket, '');
    }
    await Promise.all([removeStaleRecords(folder), removeStaleRecords(folder)]);
    assert.deepEqual(readdirSync(folder), []);
  });
});
