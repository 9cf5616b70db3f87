/** A service of root's below a folder that is closed to others keeps its Postgres data elsewhere. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { startTime } from '../../../src/base/processIdentity.ts';
import { serverAccount } from '../../../src/service/postgres/serverAccount.ts';
import { storageRoot } from '../../../src/service/postgres/storageRoot.ts';

const account = serverAccount();
const MODULE = path.resolve(import.meta.dirname, '../../../src/service/postgres/storageRoot.ts');

describe(`Data outside its data directory${account === undefined ? ' (skipped: only root has such)' : ''}`, () => {
  let closed: string;
  const roots = new Set<string>();
  before(function () {
    if (account === undefined) this.skip();
  });
  beforeEach(() => {
    // Not in the temporary folder, and like every folder mkdtemp makes closed to others.
    closed = mkdtempSync('/var/tmp/hosted-postgres-closed-');
  });
  afterEach(() => {
    for (const folder of [closed, ...roots]) rmSync(folder, { recursive: true, force: true });
    roots.clear();
  });

  const noted = (root: string) => {
    roots.add(root);
    return root;
  };
  /** As a service that uses it now. */
  const open = (name: string) => noted(storageRoot(path.join(closed, name), account));
  /** As a service that has ended since. */
  const openAndEnd = (name: string) => {
    const script = `import { storageRoot } from ${JSON.stringify(MODULE)};
      process.stdout.write(storageRoot(${JSON.stringify(path.join(closed, name))}, ${JSON.stringify(account)}));`;
    const node = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '-e', script];
    return noted(execFileSync(process.execPath, node, { encoding: 'utf8' }));
  };
  const remove = (name: string) => rmSync(path.join(closed, name), { recursive: true });
  const changeMark = (root: string, change: object) => {
    const file = path.join(root, 'data-directory');
    const mark = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...mark, ...change }));
  };

  it('is found again at every start', () => {
    const root = openAndEnd('mine');
    assert.match(root, /^\/var\/lib\/hosted-postgres\//);
    assert.equal(open('mine'), root);
  });

  it('is removed when its data directory is gone', () => {
    const [gone, kept] = [openAndEnd('gone'), openAndEnd('kept')];
    remove('gone');
    open('other');
    assert.deepEqual([existsSync(gone), existsSync(kept)], [false, true]);
  });

  it('stays without a mark of its own', () => {
    const root = openAndEnd('gone');
    remove('gone');
    for (const text of ['', path.join(closed, 'gone'), '{}', '{"dataDirectory":"gone"}']) {
      writeFileSync(path.join(root, 'data-directory'), text);
      open('other');
      assert(existsSync(root), text);
    }
    rmSync(path.join(root, 'data-directory'));
    open('other');
    assert(existsSync(root));
  });

  it('stays while a service uses it', () => {
    const root = open('gone');
    remove('gone');
    open('other');
    assert(existsSync(root));
  });

  it('stays while a Postgres runs on it', () => {
    const root = openAndEnd('gone');
    const server = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const dataDir = path.join(root, 'branches/br-main/data');
      mkdirSync(dataDir, { recursive: true });
      const { pid = 0 } = server;
      writeFileSync(
        path.join(dataDir, 'postmaster.pid'),
        `${pid}\n${dataDir}\n${Math.floor(startTime(pid) ?? 0)}\n`,
      );
      remove('gone');
      open('other');
      assert(existsSync(root));
    } finally {
      server.kill();
    }
  });

  it('stays when its data directory was on a file system that is not there now', () => {
    const root = openAndEnd('gone');
    remove('gone');
    changeMark(root, { device: -1 });
    open('other');
    assert(existsSync(root));
  });

  it('follows a data directory that was moved', () => {
    const root = openAndEnd('mine');
    renameSync(path.join(closed, 'mine'), path.join(closed, 'moved'));
    assert.equal(open('moved'), root);
    assert.notEqual(open('mine'), root);
  });

  it('is not shared with a copy of the data directory', () => {
    const root = openAndEnd('mine');
    cpSync(path.join(closed, 'mine'), path.join(closed, 'copy'), { recursive: true });
    assert.notEqual(open('copy'), root);
    assert.equal(open('mine'), root);
  });
});
