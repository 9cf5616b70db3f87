import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { copyTree } from '../../../../../src/service/postgres/storage/copyTree.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('copyTree', () => {
  it('rejects only after all writes have ended, so that the copy can be removed', async function () {
    if (process.platform === 'win32') return this.skip(); // The test needs a file that can't be copied: a socket.
    const folder = temporaryFolder();
    const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')];
    await mkdir(from);
    const large = Buffer.alloc(64 * 1024 ** 2, 1);
    await writeFile(path.join(from, 'large'), large);
    const socket = net.createServer().listen(path.join(from, 'socket'));
    await once(socket, 'listening');
    try {
      await assert.rejects(copyTree(from, to, {}), /socket/);
      assert.equal((await stat(path.join(to, 'large'))).size, large.length);
    } finally {
      socket.close();
    }
  });
});
