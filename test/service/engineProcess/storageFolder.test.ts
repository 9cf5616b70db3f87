/** Where a service that runs as root stores the data of its engine, which does not run as root. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, linkSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  canReach,
  makeReadable,
  nobody,
  type UnixAccount,
} from '../../../src/service/engineProcess/unixAccount.ts';
import { reachablePrograms } from '../../../src/service/engineProcess/reachablePrograms.ts';
import { RemoteEngine } from '../../../src/service/engineProcess/remoteEngine.ts';
import { handOverLogins } from '../../../src/service/engineProcess/earlierLogins.ts';
import { storageFolder } from '../../../src/service/engineProcess/storageFolder.ts';
import { staleFolders } from '../../../src/service/engineProcess/staleStorage.ts';
import { changeableByOthers } from '../../../src/service/postgres/config/trustedPath.ts';
import { startTime } from '../../../src/base/processIdentity.ts';
import { eventually, query } from '../postgres/clients.ts';
import { startControlPlane } from '../postgres/controlPlane.ts';

const isRoot = process.getuid?.() === 0;

describe(`storageFolder${isRoot ? '' : ' (skipped: needs root)'}`, () => {
  let account: UnixAccount;
  let closed: string;
  const roots = new Set<string>();
  before(function () {
    if (!isRoot) this.skip();
    account = nobody();
  });
  beforeEach(() => {
    // Not in the temporary folder. mkdtemp creates it with a mode that excludes other users.
    closed = mkdtempSync('/var/tmp/hosted-postgres-closed-');
  });
  afterEach(() => {
    for (const folder of [closed, ...roots]) rmSync(folder, { recursive: true, force: true });
    for (const folder of roots) rmSync(`${folder}.json`, { force: true });
    roots.clear();
  });

  for (const umask of [0o000, 0o077])
    it(`is reached through folders that only root can write, with the umask ${umask.toString(8)}`, () => {
      const folder = path.join(closed, 'readable');
      const before = process.umask(umask);
      try {
        makeReadable(folder);
      } finally {
        process.umask(before);
      }
      assert.equal(statSync(folder).mode & 0o777, 0o755);
    });

  const noted = (root: string) => {
    roots.add(root);
    return root;
  };
  const open = (name: string) => noted(storageFolder(path.join(closed, name), account));
  const remove = (name: string) => rmSync(path.join(closed, name), { recursive: true });
  /** Makes the last start on a folder more than a month old. */
  const age = (root: string) => utimesSync(`${root}.json`, 0, 0);
  const isStale = (root: string) => staleFolders(account).includes(root);
  const start = async (name: string) => {
    const service = await startControlPlane({ dataDir: path.join(closed, name), postgresPath: '/nowhere' });
    noted(readFileSync(path.join(closed, name, 'postgres-folder'), 'utf8'));
    return service;
  };

  describe('outside the data directory', () => {
    it('returns the same folder at every start', () => {
      const root = open('mine');
      assert.match(root, /^\/var\/lib\/hosted-postgres\//);
      assert.equal(open('mine'), root);
      assert.equal(statSync(root).uid, account.uid);
    });

    it('is removed a month after its data directory', async () => {
      const [gone, kept] = [open('gone'), open('kept')];
      writeFileSync(path.join(gone, 'file'), '');
      remove('gone');
      for (const folder of [gone, kept]) age(folder);
      const service = await start('other');
      await eventually(() => !existsSync(`${gone}.json`));
      await service.close();
      assert.deepEqual([existsSync(gone), existsSync(kept)], [false, true]);
    });

    it('is kept if it has no valid entry', () => {
      const root = open('gone');
      remove('gone');
      assert.ok(!isStale(root));
      age(root);
      assert.ok(isStale(root));
      for (const text of ['', path.join(closed, 'gone'), '{}', '{"dataDirectory":"gone"}']) {
        writeFileSync(`${root}.json`, text);
        age(root);
        assert.ok(!isStale(root), text);
      }
      rmSync(`${root}.json`, { force: true });
      assert.ok(!isStale(root));
    });

    it('is kept while a service uses it', async () => {
      const [gone, other] = [await start('gone'), await start('other')];
      const root = readFileSync(path.join(closed, 'gone/postgres-folder'), 'utf8');
      remove('gone');
      age(root);
      try {
        assert.ok(other.engine instanceof RemoteEngine);
        assert.deepEqual([isStale(root), await other.engine.empty(root)], [true, false]);
      } finally {
        await gone.close();
        await other.close();
      }
    });

    it('is kept while a Postgres runs on it', async () => {
      const root = open('gone');
      const dataDir = path.join(root, 'branches/br-main/data');
      mkdirSync(dataDir, { recursive: true });
      const server = spawn('sleep', ['60'], { stdio: 'ignore', ...account });
      const service = await start('other');
      try {
        const { pid = 0 } = server;
        const lines = [pid, dataDir, Math.floor(startTime(pid) ?? 0), ''];
        writeFileSync(path.join(dataDir, 'postmaster.pid'), lines.join('\n'));
        for (let owned = dataDir; owned !== root; owned = path.dirname(owned))
          chownSync(owned, account.uid, account.gid);
        assert.ok(service.engine instanceof RemoteEngine);
        assert.equal(await service.engine.empty(root), false);
        assert.ok(existsSync(path.join(dataDir, 'postmaster.pid')));
      } finally {
        server.kill();
        await service.close();
      }
    });

    it('is kept if the file system of its data directory is not mounted', () => {
      const root = open('gone');
      remove('gone');
      const entry = JSON.parse(readFileSync(`${root}.json`, 'utf8')) as object;
      writeFileSync(`${root}.json`, JSON.stringify({ ...entry, device: -1 }));
      age(root);
      assert.ok(!isStale(root));
    });

    it('is found by a data directory that was moved, even if a service on another one starts first', async () => {
      const root = open('mine');
      writeFileSync(path.join(root, 'file'), '');
      renameSync(path.join(closed, 'mine'), path.join(closed, 'moved'));
      const service = await start('other');
      await service.close();
      assert.ok(existsSync(path.join(root, 'file')));
      assert.equal(open('moved'), root);
      assert.notEqual(open('mine'), root);
    });

    it('is found if the account can now reach the data directory', () => {
      const root = open('mine');
      chmodSync(closed, 0o755);
      assert.equal(open('mine'), root);
    });

    it('is not replaced by an empty one if it is missing', () => {
      const root = open('mine');
      const note = path.join(closed, 'mine/postgres-folder');
      rmSync(root, { recursive: true });
      assert.throws(() => open('mine'), new RegExp(`are in ${root}, which is missing.* delete ${note}`));
      assert.ok(!existsSync(root));
      rmSync(note);
      assert.notEqual(open('mine'), root);
    });

    it('is not used by a copy of the data directory', () => {
      const root = open('mine');
      cpSync(path.join(closed, 'mine'), path.join(closed, 'copy'), { recursive: true });
      assert.throws(() => open('copy'), /belongs to another data directory/);
      assert.equal(open('mine'), root);
    });
  });

  it('copies a Postgres that the engine cannot reach, to a folder that only root can write', () => {
    const prefix = path.join(closed, 'pg');
    for (const name of ['bin', 'lib', 'private']) mkdirSync(path.join(prefix, name), { recursive: true });
    for (const name of ['bin/postgres', 'bin/initdb', 'lib/libpq', 'private/file'])
      writeFileSync(path.join(prefix, name), name, { mode: 0o755 });
    const none = { missing: '', pooler: undefined };
    const closedToIt = { first: path.join(prefix, 'bin'), others: [path.join(prefix, 'bin')], ...none };
    const { first = '', others } = reachablePrograms(closedToIt, account);
    noted(path.dirname(first));
    assert.deepEqual(others, []);
    assert.equal(readFileSync(path.join(first, '../lib/libpq'), 'utf8'), 'lib/libpq');
    assert.ok(canReach(path.join(first, 'postgres'), account));
    assert.ok(!existsSync(path.join(first, '../private')));
    assert.equal(changeableByOthers(path.join(first, 'postgres')), undefined);
  });

  describe('in the data directory', () => {
    beforeEach(() => chmodSync(closed, 0o755));

    it('does not use a folder of another user or a link', () => {
      for (const name of ['link', 'strangers']) mkdirSync(path.join(closed, name));
      const [victim, strangers] = [path.join(closed, 'victim'), path.join(closed, 'strangers/postgres')];
      for (const folder of [victim, strangers]) mkdirSync(folder, { mode: 0o700 });
      symlinkSync(victim, path.join(closed, 'link/postgres'));
      chownSync(strangers, 12_345, 12_345);
      for (const name of ['link', 'strangers']) assert.throws(() => open(name), /postgres/, name);
      assert.deepEqual([statSync(victim).uid, statSync(strangers).uid], [0, 12_345]);
    });

    it('uses the data of an earlier version, with password files of root', async () => {
      const dataDir = path.join(closed, 'data');
      const first = await startControlPlane({ dataDir });
      const uri = await first.uri(await first.create());
      await query(uri, 'select 1');
      await first.close();
      const root = path.join(dataDir, 'postgres');
      for (const name of ['logins.json', 'branches/br-main/login.json'])
        chownSync(path.join(root, name), 0, 0);
      const second = await startControlPlane({ dataDir });
      const compute = await second.create();
      const again = await second.uri(compute);
      assert.deepEqual(await query(again, 'select 1'), [1]);
      assert.equal(new URL(again).password, new URL(uri).password);
      await second.close();
    });

    it('hands over no root file that a link leads to', () => {
      const root = open('data');
      const login = '{"role":"r","password":"p","database":"d"}';
      const secret = (name: string) => {
        const file = path.join(closed, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, login, { mode: 0o600 });
        return file;
      };
      const branch = (name: string) => {
        const folder = path.join(root, 'branches', name);
        mkdirSync(folder, { recursive: true });
        return path.join(folder, 'login.json');
      };
      writeFileSync(path.join(root, 'logins.json'), '{"superuser":"s","replicator":"r"}');
      const secrets = ['linked', 'named-twice', 'in/login.json'].map(secret);
      const [linked = '', twice = '', inFolder = ''] = secrets;
      symlinkSync(linked, branch('br-link'));
      linkSync(twice, branch('br-hard'));
      symlinkSync(path.dirname(inFolder), path.join(root, 'branches/br-folder'));
      execFileSync('mkfifo', [branch('br-pipe')]);
      writeFileSync(branch('br-other'), 'of another kind');
      writeFileSync(branch('br-good'), login);
      handOverLogins(root, account);
      const owner = (file: string) => statSync(file).uid;
      assert.deepEqual(secrets.map(owner), [0, 0, 0]);
      assert.deepEqual(['br-pipe', 'br-other'].map(branch).map(owner), [0, 0]);
      assert.deepEqual([branch('br-good'), path.join(root, 'logins.json')].map(owner), [
        account.uid,
        account.uid,
      ]);
    });
  });
});
