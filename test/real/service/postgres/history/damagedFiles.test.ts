/** Truncated files and a full disk: each message names the file and says what to do. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { call } from '../../../../helpers/call.ts';
import { accountFile, startLocalService, temporaryFolder } from '../../../../helpers/localService.ts';
import { didNotStart } from '../../didNotStart.ts';
import { eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';

const URI = '/projects/shiny-wind-028834/connection_uri?role_name=app_owner&database_name=app';

const cut = (file: string) => truncateSync(file, statSync(file).size - 5);

describe('truncated file', () => {
  describe('of a branch', () => {
    let service: ControlPlane;
    before(async () => {
      service = await startControlPlane();
    });

    /** Truncates a file with the password of a role. @returns its path */
    async function truncate(name: string, role: string, password: string): Promise<string> {
      const file = path.join(service.dataDir, 'postgres/branches/br-main', name);
      cut(file);
      await assert.rejects(service.engine.catalog('br-main', role), (error: Error) => {
        assert.equal(error.name, 'EngineError');
        // Windows may give Postgres another path to the folder.
        assert.match(error.message, new RegExp(`^\\S.*${name} is damaged\\. Restore it from a backup, or `));
        assert(!error.message.includes(password));
        return true;
      });
      return file;
    }

    it('login.json is named with a remedy', async () => {
      const compute = await service.create();
      const uri = await service.uri(compute);
      await query(uri, 'select 1');
      const { password } = new URL(uri);
      const file = await truncate('login.json', 'app_owner', password);
      // The text that the message suggests.
      writeFileSync(file, JSON.stringify({ role: 'app_owner', password, database: 'app' }));
      assert.equal(await service.uri(compute), uri);
    });

    it('passwords.json is named with a remedy', async () => {
      const role = { kind: 'createRole', name: 'sally', canLogin: true } as const;
      const { password = '' } = await service.engine.changeCatalog('br-main', role);
      rmSync(await truncate('passwords.json', 'sally', password));
      assert.equal((await service.engine.catalog('br-main', 'sally')).password, undefined);
      const reset = { kind: 'resetPassword', name: 'sally' } as const;
      assert.notEqual((await service.engine.changeCatalog('br-main', reset)).password, undefined);
    });
  });

  it('logins.json is named with a remedy', async () => {
    const dataDir = temporaryFolder();
    const first = await startLocalService({ dataDir });
    await first.stop();
    const file = path.join(dataDir, 'postgres/logins.json');
    cut(file);
    const words = 'logins.json is damaged. Restore it from a backup, or use another data directory.';
    const service = await startLocalService({ dataDir });
    const { status, json } = await call(service.baseUrl, { path: URI, key: service.key });
    assert.equal(status, 409);
    assert.ok((json as { message: string }).message.endsWith(words));
    await eventually(() => service.stderr().includes(words));
    await service.stop();
    // A new account is created only without databases.
    rmSync(accountFile(dataDir));
    rmSync(path.join(dataDir, 'postgres/branches'), { recursive: true });
    await assert.rejects(startLocalService({ dataDir }), didNotStart(5, /logins\.json is damaged\. Restore/));
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

describe(`full disk at start${canMount ? '' : ' (skipped: only root may mount one)'}`, () => {
  const FULL = (file: string) => new RegExp(`${file}: the disk is full \\(ENOSPC\\)\\. Free some space`);
  const PAGE = 4096;
  const PAGES = 16;
  let disk: string;
  before(function () {
    if (!canMount) this.skip();
  });
  const mount = (bytes: number) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', disk]).status === 0;
  beforeEach(function () {
    disk = mkdtempSync(path.join(os.tmpdir(), 'full-'));
    if (!mount(PAGES * PAGE)) this.skip();
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });
  const leave = (pages: number) =>
    writeFileSync(path.join(disk, 'fill'), Buffer.alloc((PAGES - pages) * PAGE, 1));

  for (const [pages, file] of [
    [0, 'service\\.lock'],
    [1, 'account\\.json'],
  ] as const) {
    it(`is reported for ${file.replace('\\', '')} when ${pages} pages are left`, async () => {
      leave(pages);
      const dataDir = path.join(disk, 'data');
      await assert.rejects(startLocalService({ postgres: false, dataDir }), didNotStart(5, FULL(file)));
    });
  }

  it('is reported for the first file of the engine', async () => {
    leave(0);
    await assert.rejects(startControlPlane({ dataDir: path.join(disk, 'data'), createsTemplate: true }), {
      name: 'EngineError',
      message: FULL('(?:logins\\.json|engine\\.pid)'),
    });
  });

  for (const megabytes of [3, 12, 30])
    it(`is reported for new data on a disk of ${megabytes} MB`, async () => {
      execFileSync('umount', [disk]);
      assert(mount(megabytes * 2 ** 20));
      const service = await startControlPlane({ dataDir: path.join(disk, 'data'), createsTemplate: true });
      await assert.rejects(
        service.engine.createBranch({ id: 'br-one' }),
        /the disk is full.*\. Free some space and try again\.$/i,
      );
    });
});
