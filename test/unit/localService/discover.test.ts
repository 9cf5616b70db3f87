import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { baseUrlOrUndefined } from '../../../src/api/transport/baseUrl.ts';
import { findServiceAddress, findServiceOwner } from '../../../src/localService/discover.ts';
import { ownIdentity, readStartTimeSync, uniqueProcessId } from '../../../src/base/processIdentity.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

describe('The owner of a data directory', () => {
  const own = ownIdentity();
  let folder: string;
  const write = (name: string, content: object) =>
    writeFileSync(path.join(folder, name), JSON.stringify(content), { mode: 0o600 });

  beforeEach(() => {
    folder = temporaryFolder();
  });

  it('is the running process that its lock describes', async () => {
    assert.equal(await findServiceOwner(folder), undefined);
    write('service.lock', own);
    assert.deepEqual(await findServiceOwner(folder), own);
  });

  it('is not another process with the same pid and start time', async () => {
    write('service.lock', { ...own, uniqueId: 'another' });
    assert.equal(await findServiceOwner(folder), undefined);
  });

  it('is not read from a lock without a valid pid and start time', async () => {
    for (const fields of [
      { pid: 0 },
      { pid: -1 },
      { pid: 1.5 },
      { pid: '1' },
      { startedAt: String(own.startedAt) },
    ]) {
      write('service.lock', { ...own, uniqueId: undefined, ...fields });
      const hasNone = async () =>
        assert.equal(await findServiceOwner(folder), undefined, JSON.stringify(fields));
      await hasNone();
      // Without PowerShell, the pid is all that counts there.
      await onPlatform('win32', hasNone);
    }
  });

  it('may be the first process of a container', async function () {
    if (process.platform !== 'linux') return this.skip();
    const first = { pid: 1, startedAt: readStartTimeSync(1), uniqueId: uniqueProcessId(1) };
    write('service.lock', first);
    assert.deepEqual(await findServiceOwner(folder), first);
  });

  it('has the address that it has published itself, on this machine and with a secret', async () => {
    const baseUrl = baseUrlOrUndefined('http://127.0.0.1:8790/api/v2') ?? assert.fail();
    const published = { baseUrl, pid: own.pid, leaseSecret: 'secret' };
    assert.equal(await findServiceAddress(folder, own), undefined);
    write('service.json', published);
    assert.deepEqual(await findServiceAddress(folder, own), { baseUrl, leaseSecret: 'secret' });
    for (const fields of [
      { baseUrl: 1 },
      { baseUrl: 'http://127.0.0.1:8790' },
      { baseUrl: 'https://example.com/api/v2' },
      { pid: own.pid + 1 },
      { leaseSecret: '' },
      { leaseSecret: 1 },
    ]) {
      write('service.json', { ...published, ...fields });
      assert.equal(await findServiceAddress(folder, own), undefined, JSON.stringify(fields));
    }
  });
});
