/** Where a service that root starts stores its data after it has become `nobody`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  canReach,
  makeReadable,
  findNobody,
  type UnixAccount,
} from '../../../../src/service/privileges/unixAccount.ts';
import { makeProgramsReachable } from '../../../../src/service/privileges/reachablePrograms.ts';
import { findOrCreateStorageFolder } from '../../../../src/service/privileges/storageFolder.ts';
import { findChangeablePart } from '../../../../src/service/postgres/server/trustedPath.ts';
import { startControlPlane } from '../postgres/controlPlane.ts';

const isRoot = process.getuid?.() === 0;

describe(`storageFolder${isRoot ? '' : ' (skipped: needs root)'}`, () => {
  let account: UnixAccount;
  let closed: string;
  const roots = new Set<string>();
  before(function () {
    if (!isRoot) this.skip();
    account = findNobody();
  });
  beforeEach(() => {
    // The folder is outside of the temporary one, and mkdtemp creates it with a mode that excludes other users.
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
  const open = (name: string) => {
    mkdirSync(path.join(closed, name), { recursive: true, mode: 0o700 });
    return noted(findOrCreateStorageFolder(path.join(closed, name), account));
  };
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
    // As with the umask 077.
    for (const [name, mode] of [
      ['bin/initdb', 0o700],
      ['lib/libpq', 0o600],
    ] as const)
      chmodSync(path.join(prefix, name), mode);
    const none = { missing: '', pooler: undefined };
    const closedToIt = { first: path.join(prefix, 'bin'), others: [path.join(prefix, 'bin')], ...none };
    const { first = '', others } = makeProgramsReachable(closedToIt, account);
    noted(path.dirname(first));
    assert.deepEqual(others, []);
    assert.equal(readFileSync(path.join(first, '../lib/libpq'), 'utf8'), 'lib/libpq');
    assert.ok(canReach(path.join(first, 'postgres'), account));
    const modesIn = (folder: string) =>
      ['bin/postgres', 'bin/initdb', 'lib/libpq'].map(
        (name) => statSync(path.join(folder, name)).mode & 0o777,
      );
    assert.deepEqual(modesIn(path.dirname(first)), [0o755, 0o755, 0o644]);
    assert.deepEqual(modesIn(prefix), [0o755, 0o700, 0o600]);
    assert.ok(!existsSync(path.join(first, '../private')));
    assert.equal(findChangeablePart(path.join(first, 'postgres')), undefined);

    // Replaced binaries get another copy. The old one is removed when its last service has ended.
    rmSync(path.join(prefix, 'bin/postgres'));
    writeFileSync(path.join(prefix, 'bin/postgres'), 'replaced', { mode: 0o755 });
    const copy = path.dirname(first);
    const { first: second = '' } = makeProgramsReachable(closedToIt, account);
    noted(path.dirname(second));
    assert.notEqual(second, first);
    assert.ok(existsSync(copy));
    const owner = JSON.parse(readFileSync(`${copy}.json`, 'utf8'));
    const ended = { ...owner.service, pid: spawnSync('true').pid };
    writeFileSync(`${copy}.json`, JSON.stringify({ ...owner, service: ended }));
    makeProgramsReachable(closedToIt, account);
    assert.ok(!existsSync(copy) && !existsSync(`${copy}.json`));
    assert.ok(existsSync(second));
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
  });
});
