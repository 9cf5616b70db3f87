import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { copyTree } from '../../../../src/service/postgres/data/copyTree.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('copyTree', () => {
  it('links the files of template0, and copies those that can not be linked', async () => {
    const folder = temporaryFolder();
    const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')];
    const files = ['base/4/1', 'base/4/2', 'base/5/1'];
    for (const file of files) {
      await mkdir(path.dirname(path.join(from, file)), { recursive: true });
      await writeFile(path.join(from, file), file);
    }
    await mkdir(path.join(to, 'base/4'), { recursive: true });
    await writeFile(path.join(to, 'base/4/2'), 'prevents a link');
    await copyTree(from, to, {});
    for (const file of files) {
      const [source, target] = await Promise.all([from, to].map(async (each) => stat(path.join(each, file))));
      assert.equal(await readFile(path.join(to, file), 'utf8'), file);
      assert.equal(source?.ino === target?.ino, file === 'base/4/1' && process.platform !== 'win32', file);
    }
  });

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
