/** Damaged history and a full disk: the error says so, only history is lost, and the branch works on. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { DAY, keepHistory, LIMITS, NO_LIMIT } from '../keepHistory.ts';

const MEGABYTE = 1024 ** 2;
const ID = 'br-history';

/** A branch with a table and moments of it. */
class Subject {
  readonly service: ControlPlane;
  readonly uri: string;

  static async create(dataDir?: string): Promise<Subject> {
    const service = await startControlPlane(dataDir === undefined ? {} : { dataDir });
    await service.engine.createBranch({ id: ID, keepsHistory: true });
    const uri = await service.uri(await service.create({ id: 'ep-history', branchId: ID }));
    await query(uri, 'create table item as select 0 as id');
    return new Subject(service, uri);
  }

  private constructor(service: ControlPlane, uri: string) {
    this.service = service;
    this.uri = uri;
  }

  get storage(): string {
    return path.join(this.service.dataDir, 'postgres');
  }

  /** @returns the position before a change of the rows, which fills more than one file of the log */
  async change(): Promise<string> {
    const [lsn] = await query(this.uri, 'select pg_current_wal_flush_lsn()::text');
    await query(this.uri, 'update item set id = id + 1');
    await query(
      this.uri,
      'create table if not exists filler as select md5(g::text) from generate_series(1, 20000) g',
    );
    await query(this.uri, 'insert into filler select md5(g::text) from generate_series(1, 20000) g');
    return String(lsn);
  }

  async keep(): Promise<void> {
    await keepHistory(this.service, ID);
  }

  /** Creates a branch of a moment. @returns its rows */
  async rowsAt(lsn: string): Promise<unknown[]> {
    const { engine } = this.service;
    const id = 'br-past';
    await engine.createBranch({ id, parentId: ID, moment: { lsn }, keepsHistory: true });
    const compute = await this.service.create({ id: 'ep-past', branchId: id });
    const rows = await query(await this.service.uri(compute), 'select id from item');
    await engine.remove(compute.id);
    await engine.deleteBranch(id);
    return rows;
  }

  /** The files of the log with the position and after it, except for the one that the server writes to. */
  filesFrom(lsn: string): string[] {
    const folder = path.join(this.storage, 'branches', ID, 'data/pg_wal');
    const segment = Math.floor(parseInt(lsn.split('/')[1] ?? '', 16) / MEGABYTE);
    const names = readdirSync(folder).filter((name) => name.length === 24);
    const isFrom = (name: string) => parseInt(name.slice(16), 16) >= segment;
    return names
      .toSorted()
      .filter(isFrom)
      .slice(0, -1)
      .map((name) => path.join(folder, name));
  }

  /** It can be read, written and copied, and nothing is left of what failed. */
  async assertWorks(expected: number): Promise<void> {
    assert.deepEqual(await query(this.uri, 'update item set id = id returning id'), [expected]);
    assert.deepEqual(readdirSync(path.join(this.storage, 'branches')), [ID]);
    const { engine } = this.service;
    await engine.createBranch({ id: 'br-copy', parentId: ID, keepsHistory: true });
    await engine.deleteBranch('br-copy');
  }
}

describe('Damaged history', () => {
  let subject: Subject;
  beforeEach(async () => (subject = await Subject.create()));

  const damages: Readonly<Record<string, (file: string) => void>> = {
    'is cut': (file) => truncateSync(file, 1000),
    'has other bytes': (file) => writeFileSync(file, Buffer.alloc(MEGABYTE, 0x5a)),
    'has other bytes in a record': (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0x5a, 300_000, 300_008);
      writeFileSync(file, bytes);
    },
    'is missing': (file) => rmSync(file),
  };
  for (const [what, damage] of Object.entries(damages))
    it(`is named if a file of the log ${what}`, async () => {
      const first = await subject.change();
      const second = await subject.change();
      const [, file = ''] = subject.filesFrom(first);
      damage(file);
      await assert.rejects(subject.rowsAt(second), {
        name: 'EngineError',
        message:
          /The write-ahead log of branch br-history is damaged at 0\/\w+|history of branch br-history (?:cannot be used: .*recovery ended|does not reach back)/s,
      });
      await subject.assertWorks(2);
      await subject.keep();
      const third = await subject.change();
      assert.deepEqual(await subject.rowsAt(third), [2]);
    });

  it('is named if a base is damaged, and an older one is used if a base is missing', async () => {
    const first = await subject.change();
    await subject.keep();
    const second = await subject.change();
    const folder = path.join(subject.storage, 'bases');
    const [base = ''] = readdirSync(folder);
    rmSync(path.join(folder, base, 'global/pg_control'));
    await assert.rejects(subject.rowsAt(second), {
      name: 'EngineError',
      message: /The history of branch br-history cannot be used/,
    });
    assert.deepEqual(await subject.rowsAt(first), [0]);
    rmSync(path.join(folder, base), { recursive: true });
    assert.deepEqual(await subject.rowsAt(second), [1]);
    await subject.assertWorks(2);
  });

  const unreadable: Readonly<Record<string, (file: string) => void>> = {
    'is of another version': (file) => writeFileSync(file, '{"version":2,"bases":[]}'),
    'can’t be read': (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  };
  for (const [what, damage] of Object.entries(unreadable))
    it(`keeps its bases, and no later ones, while the list of them ${what}, which is said once`, async () => {
      const { engine, log } = subject.service;
      await subject.change();
      await subject.keep();
      const second = await subject.change();
      await engine.createBranch({ id: 'br-other', parentId: ID, keepsHistory: true });
      const other = await subject.service.create({ id: 'ep-other', branchId: 'br-other' });
      await query(await subject.service.uri(other), 'create table more ()');
      const bases = () => readdirSync(path.join(subject.storage, 'bases'));
      const before = bases();
      assert.equal(before.length, 1);
      const file = path.join(subject.storage, 'branches', ID, 'history.json');
      const text = readFileSync(file, 'utf8');
      damage(file);

      const keepAll = (limits: Partial<typeof LIMITS>) => {
        const both = [ID, 'br-other'].map((id) => ({ id, seconds: DAY }));
        return engine.keepHistory(both, { isAll: true, limits: { ...LIMITS, ...limits } });
      };
      await keepAll({ leastWritten: NO_LIMIT });
      assert.deepEqual(bases(), before);
      await keepAll({});
      assert.equal(bases().length, 2);
      assert.notEqual(await engine.history('br-other'), undefined);
      await keepAll({ total: 1, leastWritten: NO_LIMIT });
      assert.equal(await engine.history('br-other'), undefined);
      assert.deepEqual(bases(), before);
      await keepAll({});
      await keepAll({ leastFree: 1000 * 1024 ** 4 });
      assert.equal(await engine.history('br-other'), undefined);
      assert.equal(log.filter((line) => line.includes('of the disk is free')).length, 1);
      await engine.createBranch({ id: 'br-copy', parentId: ID, keepsHistory: true });
      await engine.remove(other.id);
      for (const id of ['br-copy', 'br-other']) await engine.deleteBranch(id);
      assert.deepEqual(bases(), before);
      const reason = /history\.json is damaged\. Restore it|Cannot read .*history\.json: /;
      await assert.rejects(engine.history(ID), reason);
      const said = log.filter((line) => line.startsWith("Couldn't"));
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(said[0] ?? '', reason);

      rmSync(file, { recursive: true });
      writeFileSync(file, text);
      assert.deepEqual(await subject.rowsAt(second), [1]);
      await subject.assertWorks(2);
    });

  it('is said once for each branch, also while only some branches are checked', async () => {
    const { engine, log } = subject.service;
    const ids = [ID, 'br-first', 'br-second'];
    for (const id of ids.slice(1)) {
      await engine.createBranch({ id, parentId: ID, keepsHistory: true });
      writeFileSync(path.join(subject.storage, 'branches', id, 'history.json'), 'x');
    }
    const check = (isAll: boolean) =>
      engine.keepHistory(
        (isAll ? ids : [ID, 'br-second']).map((id) => ({ id, seconds: DAY })),
        { isAll, limits: LIMITS },
      );
    for (const isAll of [true, false, true, false]) await check(isAll);
    const said = () => log.filter((line) => line.startsWith("Couldn't keep the history"));
    assert.equal(said().length, 2, said().join('\n'));
    await engine.deleteBranch('br-first');
    await check(true);
    await engine.createBranch({ id: 'br-first', parentId: ID, keepsHistory: true });
    writeFileSync(path.join(subject.storage, 'branches', 'br-first', 'history.json'), 'x');
    for (const isAll of [true, false, true]) await check(isAll);
    assert.equal(said().length, 3, said().join('\n'));
  });
});

const canMount = process.platform === 'linux' && process.getuid?.() === 0;
const DISK = 320 * MEGABYTE;

describe(`History on a full disk${canMount ? '' : ' (skipped: only root may mount one)'}`, () => {
  let disk: string;
  let subject: Subject;
  before(function () {
    if (!canMount) this.skip();
    disk = mkdtempSync(path.join(os.tmpdir(), 'full-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', disk]).status !== 0)
      this.skip();
  });
  after(async () => {
    await subject?.service.close();
    if (disk === undefined) return;
    spawnSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });

  const free = () =>
    Number(execFileSync('df', ['--output=avail', '-B1', disk], { encoding: 'utf8' }).split('\n')[1]);
  const leave = (bytes: number) => writeFileSync(path.join(disk, 'fill'), Buffer.alloc(free() - bytes, 1));
  const empty = () => rmSync(path.join(disk, 'fill'), { force: true });

  it('leaves the branch as it is, and is removed if it takes the last of it', async () => {
    subject = await Subject.create(path.join(disk, 'data'));
    const lsn = await subject.change();
    leave(12 * MEGABYTE);
    const restore = { id: ID, sourceId: ID, moment: { lsn }, preservedId: 'br-before' };
    const { engine } = subject.service;
    await engine.suspend('ep-history');
    await assert.rejects(engine.restoreBranch(restore), {
      name: 'EngineError',
      message: /^Cannot write .*: the disk is full \(ENOSPC\)\. Free some space/,
    });
    assert.deepEqual(await query(subject.uri, 'select id from item'), [1]);
    assert.deepEqual(readdirSync(path.join(subject.storage, 'branches')), [ID]);
    assert.notEqual(await engine.history(ID), undefined);

    const limits = { branch: DISK, total: DISK, leastWritten: DISK, mostWritten: DISK, leastFree: 0 };
    await engine.keepHistory([{ id: ID, seconds: DAY }], { isAll: true, limits });
    assert.notEqual(await engine.history(ID), undefined);
    await engine.keepHistory([{ id: ID, seconds: DAY }], { isAll: true });
    assert.equal(await engine.history(ID), undefined);
    assert.deepEqual(await query(subject.uri, 'update item set id = id returning id'), [1]);

    // More than a tenth is free, but not after a copy of the data.
    empty();
    leave(DISK / 10 + 12 * MEGABYTE);
    await engine.keepHistory([{ id: ID, seconds: DAY }], { isAll: false });
    assert.equal(await engine.history(ID), undefined);
    assert.match(subject.service.log.join('\n'), /^Less than \d+ MB of the disk is free, so [^\n]*$/);
    assert.match((await engine.spaceProblem(ID)) ?? '', /^History needs \d+ MB of free disk space/);

    empty();
    await subject.keep();
    const later = await subject.change();
    assert.deepEqual(await subject.rowsAt(later), [1]);
  });
});
