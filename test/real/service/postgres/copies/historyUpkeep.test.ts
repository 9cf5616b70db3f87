/**
 * What is kept of the history of a branch, and what is removed.
 * Timers: service/controlPlane/records/historyRetention.ts.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../../../src/base/clock.ts';
import { findInHistory } from '../../../../../src/service/controlPlane/records/historyRetention.ts';
import type { ProjectState } from '../../../../../src/service/state/accountState.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { DAY, keepHistory, LIMITS, NO_LIMIT } from '../keepHistory.ts';

const MEGABYTE = 1024 ** 2;

describe('The history of a branch', () => {
  const id = 'br-history';
  let service: ControlPlane;
  let uri: string;

  const keep = (seconds: number, limits: Partial<typeof LIMITS> = {}) =>
    keepHistory(service, id, seconds, limits);
  const start = async () => (await service.engine.history(id))?.startLsn;
  /** A base after some rows. */
  const addBase = async () => {
    await query(uri, 'insert into item select from generate_series(1, 1000)');
    await keep(DAY);
  };

  beforeEach(async () => {
    service = await startControlPlane();
    await service.engine.createBranch({ id, keepsHistory: true });
    uri = await service.uri(await service.create({ id: 'ep-history', branchId: id }));
    await query(uri, 'create table item ()');
    await addBase();
    await addBase();
  });

  it('loses what is older than the retention, and nothing before', async () => {
    const first = await start();
    await keep(DAY);
    assert.equal(await start(), first);
    await keep(0.001);
    assert.notEqual(await start(), first);
    const branch = { id: 'br-past', parentId: id, moment: { lsn: first ?? '' } };
    await assert.rejects(service.engine.createBranch(branch), /does not reach back to this moment/);
  });

  it('loses the oldest if it is larger than the limit of a branch, or of all', async () => {
    const first = await start();
    await keep(DAY, { branch: 1 });
    assert.notEqual(await start(), first);
    await addBase();
    assert.notEqual(await start(), undefined);
    await keep(DAY, { total: 1 });
    assert.equal(await start(), undefined);
  });

  it('counts what branches share once', async () => {
    await query(uri, `create table large as select repeat('x', 500) from generate_series(1, 20000)`);
    const first = await start();
    const all = [id, 'br-1', 'br-2', 'br-3', 'br-4'];
    for (const each of all.slice(1))
      await service.engine.createBranch({ id: each, parentId: id, keepsHistory: true });
    const { history = 0 } = (await service.engine.size(id)) ?? {};
    // Each has more than that, but shares all but its last files.
    const limits = { ...LIMITS, leastWritten: NO_LIMIT, total: history + 10 * MEGABYTE };
    const retention = all.map((each) => ({ id: each, seconds: DAY }));
    await service.engine.keepHistory(retention, { isAll: true, limits });
    assert.equal(await start(), first);
  });

  it('is removed if the disk is almost full, which the log says once, and an undo why it fails', async () => {
    const plane = { engine: Promise.resolve(service.engine), clock: systemClock };
    const restore = (timestamp: string) =>
      findInHistory(plane, { record: { id: 'shop' } } as ProjectState, id, { timestamp });
    const before = new Date().toISOString();
    await restore(before);
    const isShort = { leastFree: 1000 * 1024 ** 4 };
    for (let round = 0; round < 2; round += 1) await keep(DAY, isShort);
    assert.equal(await start(), undefined);
    const said = () => service.log.filter((line) => line.includes('of the disk is free'));
    assert.match(said().join('\n'), /^Less than 1024000 GB of the disk is free, so [^\n]*$/);
    const reason = /History needs 1024000 GB of free disk space, and there was less\.$/;
    await assert.rejects(restore(before), reason);
    await addBase();
    await assert.rejects(restore(before), reason);
    await restore(new Date().toISOString());
    await keep(DAY, isShort);
    assert.equal(said().length, 2);
  });

  it('names no disk if it begins late for another reason', async () => {
    const before = new Date().toISOString();
    await addBase();
    await keep(DAY, { leastFree: 1000 * 1024 ** 4 });
    await addBase();
    await addBase();
    await keep(0.001);
    const plane = { engine: Promise.resolve(service.engine), clock: systemClock };
    const restore = findInHistory(plane, { record: { id: 'shop' } } as ProjectState, id, {
      timestamp: before,
    });
    await assert.rejects(restore, /Choose a later moment\.$/);
  });

  it('goes forward again with the password that was set in between, and not with the one before', async () => {
    const { endLsn = '' } = (await service.engine.history(id)) ?? {};
    await query(uri, 'insert into item select');
    const undo = { id, sourceId: id, moment: { lsn: endLsn }, preservedId: 'br-kept' };
    await service.engine.suspend('ep-history');
    await service.engine.restoreBranch(undo);
    const { password = '' } = await service.engine.changeCatalog(id, {
      kind: 'resetPassword',
      name: 'app_owner',
    });
    await service.engine.suspend('ep-history');
    await service.engine.restoreBranch({ id, sourceId: 'br-kept', preservedId: 'br-kept-again' });
    const current = Object.assign(new URL(uri), { password }).href;
    assert.deepEqual(await query(current, 'select count(*)::int from item'), [2001]);
    await assert.rejects(query(uri, 'select 1'), /password authentication failed/);
    assert.equal((await service.engine.catalog(id, 'app_owner')).password, password);
  });

  it('is kept also if the data of another branch are damaged, which is reported', async () => {
    const damaged = 'br-damaged';
    await service.engine.createBranch({ id: damaged, keepsHistory: true });
    const keepBoth = (seconds: number) => {
      const both = [damaged, id].map((each) => ({ id: each, seconds }));
      return service.engine.keepHistory(both, { isAll: true, limits: LIMITS });
    };
    await query(await service.uri(await service.create({ id: 'ep-damaged', branchId: damaged })), 'select 1');
    await keepBoth(DAY);
    await service.engine.suspend('ep-damaged');
    const first = await start();
    rmSync(path.join(service.dataDir, 'postgres/branches', damaged, 'data/global/pg_control'));
    await keepBoth(0.001);
    assert.match(service.log.join('\n'), /Couldn't keep the history of branches: .*pg_control/);
    assert.notEqual(await start(), first);
  });

  it('still goes back in time after a new base of data that is almost as large as the limit', async () => {
    await keep(0);
    await keep(DAY);
    const { databases = 0 } = (await service.engine.size(id)) ?? {};
    const [leastWritten, mostWritten] = [8 * MEGABYTE, 16 * MEGABYTE];
    const limits = { branch: databases + leastWritten, leastWritten, mostWritten };
    const bases = () => readdirSync(path.join(service.dataDir, 'postgres/bases')).toSorted().join();
    await query(uri, 'create table filler (text text)');
    const write = async () => {
      await query(uri, 'insert into filler select repeat(md5(g::text), 30) from generate_series(1, 3000) g');
      await query(uri, 'truncate filler');
      await keep(DAY, limits);
    };
    const [first, before] = [await start(), bases()];
    while (bases() === before) await write();
    assert.equal(await start(), first);
    while ((await start()) === first) await write();
    assert.notEqual(await start(), undefined);
  });

  it('is as large as its log and its copies of the data', async () => {
    const storage = path.join(service.dataDir, 'postgres');
    const wal = path.join(storage, 'branches', id, 'data/pg_wal');
    const cost = async () => (await service.engine.size(id))?.history ?? 0;
    const before = await cost();
    await addBase();
    const after = await cost();
    const { databases = 0 } = (await service.engine.size(id)) ?? {};
    // A file system that shares the blocks of copies needs no space for them.
    assert(after > before, `${before} ${after}`);
    assert(after <= sizeOf(wal) + 4 * databases, String(after));
    await keep(0);
    assert.equal(await cost(), 0);
  });

  it('counts for deleted branches, too, which are measured again only after a server ran on them', async () => {
    const compute = service.computes.get('ep-history');
    assert(compute);
    await service.engine.suspend(compute.id);
    assert.equal(await service.engine.canKeepDeleted([id, 'br-missing']), true);
    const file = path.join(service.dataDir, 'postgres/branches', id, 'data/large');
    writeFileSync(file, '');
    truncateSync(file, 5 * 1024 ** 3); // Without blocks on the disk.
    assert.equal(await service.engine.canKeepDeleted([id]), true);
    await service.engine.start(compute);
    await service.engine.suspend(compute.id);
    assert.equal(await service.engine.canKeepDeleted([id]), false);
    assert.equal(await service.engine.canKeepDeleted([]), true);
  });

  it('loses the bases before a gap in the log, which a server that writes much makes itself', async () => {
    const storage = path.join(service.dataDir, 'postgres');
    const wal = path.join(storage, 'branches', id, 'data/pg_wal');
    const bases = () => readdirSync(path.join(storage, 'bases')).length;
    const before = bases();
    assert(before > 1);
    const files = readdirSync(wal).filter((name) => name.length === 24);
    for (const name of files.toSorted().slice(0, -1)) rmSync(path.join(wal, name));
    await service.engine.keepHistory([{ id, seconds: DAY }], { isAll: false });
    assert(bases() < before, String(bases()));
  });

  it('stays within its limit while much is written', async () => {
    await keep(0);
    const storage = path.join(service.dataDir, 'postgres');
    const used = () =>
      sizeOf(path.join(storage, 'bases')) + sizeOf(path.join(storage, 'branches', id, 'data/pg_wal'));
    const limit = 64 * MEGABYTE;
    let bases = 0;
    let written = 0;
    await query(uri, 'create table filler (text text)');
    for (let last = await start(); written < roundsOf(2, 16) * limit;) {
      await query(uri, 'insert into filler select repeat(md5(g::text), 30) from generate_series(1, 8000) g');
      await query(uri, 'truncate filler');
      written += 8 * MEGABYTE;
      await keep(DAY, { branch: limit, leastWritten: 16 * MEGABYTE, mostWritten: 16 * MEGABYTE });
      const first = await start();
      if (first !== last) bases += 1;
      last = first;
      // The first base is not counted, as no history can do without it.
      const most = limit + 40 * MEGABYTE + 2 * 8 * MEGABYTE;
      assert(used() < most, `${used() / MEGABYTE} MB after ${written / MEGABYTE} MB`);
    }
    assert(bases > 1, `its start moved ${bases} times`);
  });

  it('has the moment of a record that continues in the next file of the log', async () => {
    await query(uri, `create table large as select repeat('x', 500) from generate_series(1, 10000)`);
    const { startLsn = '', endLsn = '' } = (await service.engine.history(id)) ?? {};
    const fileOf = (lsn: string) => Math.floor(parseInt(lsn.split('/')[1] ?? '', 16) / 2 ** 20);
    // The last record before the start of a file is cut there, if it doesn't end exactly there.
    for (let file = fileOf(startLsn) + 1; file <= fileOf(endLsn); file += 1) {
      const moment = { lsn: `0/${(file * 2 ** 20).toString(16)}` };
      await service.engine.createBranch({ id: 'br-cut', parentId: id, moment });
      await service.engine.deleteBranch('br-cut');
    }
  });

  it('ends with a retention of 0, and begins again', async () => {
    await keep(0);
    assert.equal(await start(), undefined);
    await keep(DAY);
    assert.notEqual(await start(), undefined);
  });
});

/** Bytes, of a folder that a server may change. */
function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const stats = names.map((name) => statSync(path.join(folder, name), { throwIfNoEntry: false }));
  return stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0);
}
