/** The commits that are found in a log that arrives in pieces are those that the reader of whole files finds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CommitFinder } from '../../../../../src/service/postgres/rehearsal/commitFinder.ts';
import { Wal } from '../../../../../src/service/postgres/wal/walFiles.ts';
import {
  findFirstRecord,
  readWalRecords,
  WAL_MANAGERS,
} from '../../../../../src/service/postgres/wal/walRecords.ts';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { connectTo } from '../clients.ts';
import { startControlPlane, superuserUri, type ControlPlane } from '../controlPlane.ts';

describe('A stream of the log', () => {
  let plane: ControlPlane;
  let wal: Wal;

  before(async () => {
    plane = await startControlPlane();
    const client = await connectTo(superuserUri(plane, await plane.uri(await plane.create())));
    await client.query('create table t (id int, text text)');
    for (let round = 0; round < 40; round += 1) {
      await client.query(`insert into t select g, repeat('x', ${round * 50}) from generate_series(1, 100) g`);
      await client.query('begin; update t set id = id + 1 where id % 7 = 0; rollback');
      // The rest of a segment is empty then, and the next change of a page writes the whole page.
      if (round % 15 === 14) await client.query('select pg_switch_wal(); checkpoint');
    }
    wal = new Wal(path.join(storageOf(plane), 'branches/br-main/data'));
  });
  after(() => plane.close());

  it(`has the same commits in pieces of any size (seed ${RANDOM_SEED})`, () => {
    const random = randomNumbers(RANDOM_SEED);
    const [first, last] = [wal.oldestSegment(), wal.newestSegment()];
    const start = findFirstRecord(wal, first) ?? assert.fail();
    const ends: number[] = [];
    let end = start;
    for (const { manager, info, end: endOfRecord } of readWalRecords(wal, start)) {
      end = endOfRecord;
      if (manager === WAL_MANAGERS.transaction && (info & 0x70) === 0) ends.push(endOfRecord);
    }
    assert(ends.length > 40, String(ends.length));
    const segments = Array.from({ length: last - first + 1 }, (_, index) =>
      readFileSync(path.join(wal.folder, wal.fileOf(first + index))),
    );
    const log = Buffer.concat(segments);
    for (const largest of [8, 64, 1024, 100_000]) {
      const finder = new CommitFinder();
      // By then it is certain where records begin.
      const beginning = start + 65_536;
      finder.read(start, log.subarray(start % wal.size, (start % wal.size) + 65_536));
      for (let at = beginning; at < end;) {
        const size = Math.min(8 * Math.ceil((random() * largest) / 8), end - at);
        const offset = at - first * wal.size;
        const isFound = finder.read(at, log.subarray(offset, offset + size));
        const isExpected = ends.some((each) => each > at && each <= at + size);
        assert.equal(isFound, isExpected, `${at}, ${size} bytes of ${largest}`);
        at += size;
      }
    }
  });

  it('counts as one with a commit if it is no log, such as from within a record', () => {
    const finder = new CommitFinder();
    // Lengths that are shorter than the header of a record.
    const bytes = Buffer.alloc(10_000, Buffer.from([5, 0, 0, 0]));
    for (let at = 0; at < 100_000; at += bytes.length) assert.equal(finder.read(at, bytes), true);
  });

  it('counts as one with a commit until it is certain where records begin', () => {
    const first = wal.segmentAt(wal.checkpoint);
    const start = findFirstRecord(wal, first) ?? assert.fail();
    const bytes = readFileSync(path.join(wal.folder, wal.fileOf(first)));
    const finder = new CommitFinder();
    for (let at = start + 16; at < start + 4096; at += 512)
      assert.equal(finder.read(at, bytes.subarray(at % wal.size, (at % wal.size) + 512)), true);
  });
});
