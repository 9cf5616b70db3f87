/** The local service on a disk without space. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  accountFile,
  startLocalService,
  temporaryFolder,
  type LocalService,
} from '../../../helpers/localService.ts';
import { didNotStart } from '../didNotStart.ts';

describe('A full disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const start = (more: Parameters<typeof startLocalService>[0] = {}): Promise<LocalService> =>
    startLocalService({ postgres: false, dataDir: folder, ...more });

  it('ends a service that changes something, with 5, and loses no confirmed change', async function () {
    if (process.platform === 'win32') this.skip();
    // A limit on the size of files has the same effect as a full disk.
    const under = ['bash', '-c', 'trap "" XFSZ; ulimit -f 60; exec "$@"', '--'];
    const service = await start({ under });
    const made: number[] = [];
    await assert.rejects(async () => {
      for (;;) made.push((await service.client.createApiKey('x'.repeat(64))).id);
    });
    assert.equal(await service.ended, 5);
    assert.match(service.stderr(), /^(Cannot write to .*account\.json: EFBIG\n)+$/);
    assert(made.length > 10);
    const again = await start();
    const keys = new Set((await again.client.listApiKeys()).items.map(({ id }) => id));
    for (const id of made) assert(keys.has(id), String(id));
  });

  it('does not end a service that only reads, which answers again when there is space', async function () {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'tmpfs', folder]);
    if (mounted.status !== 0) return this.skip(); // Only root may mount.
    const service = await start();
    try {
      const filler = path.join(folder, 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
      // Noting the use of the key fails, as the times do that the service notes while no client waits.
      const refusal = /Cannot write to .*the disk is full/;
      await assert.rejects(service.client.listApiKeys(), refusal);
      await assert.rejects(service.client.listApiKeys(), refusal);
      rmSync(filler);
      assert.equal((await service.client.listApiKeys()).items.length, 4);
    } finally {
      assert.equal(await service.stop(), 0);
      spawnSync('umount', [folder]);
    }
    assert.match(service.stderr(), /^Cannot write to .*\n$/);
  });

  for (const isNew of [true, false])
    it(`lets no service start, which exits with 5, ${isNew ? 'also in a new folder' : 'and keeps its data'}`, async function () {
      if (process.platform === 'win32') this.skip();
      await (await start()).stop();
      if (isNew) rmSync(accountFile(folder));
      // The lock takes the first kilobyte.
      const under = ['bash', '-c', 'trap "" XFSZ; ulimit -f 1; exec "$@"', '--'];
      const message = /^Cannot write to .*account\.json: EFBIG/;
      await assert.rejects(start({ under, key: 'another' }), didNotStart(5, message));
      await (await start()).stop();
    });
});
