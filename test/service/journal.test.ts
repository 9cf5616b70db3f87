import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AccountState } from '../../src/service/state/store.ts';
import { Journal } from '../../src/service/state/journal.ts';
import { readJournal } from '../../src/service/state/journalReader.ts';
import type { Change } from '../../src/service/state/storedRecords.ts';
import { temporaryFolder } from '../helpers/localService.ts';

const key = (id: number, name = `key ${id}`): Change => ({
  set: 'key',
  value: { id, name, hash: '0'.repeat(64), created_at: '', last_used_at: null, last_used_from_addr: '' },
});

describe('The journal', () => {
  let folder: string;
  let file: string;
  const failures: unknown[] = [];
  const account = new AccountState();
  const options = () => ({
    file,
    snapshot: () => account.snapshot(),
    onFailure: (error: unknown) => failures.push(error),
  });
  const write = async (journal: Journal, ...changes: Change[]) => {
    for (const change of changes) account.apply(change);
    journal.append(changes);
    await journal.whenDurable();
  };
  const names = () => {
    const read = new AccountState();
    for (const change of readJournal(file)?.changes ?? []) read.apply(change);
    return [...read.keys.values()].map(({ name }) => name);
  };

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'account.journal');
    account.keys.clear();
    failures.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('does not exist before it is created', () => {
    assert.equal(readJournal(file), undefined);
  });

  it('contains durable changes even if it was not closed', async () => {
    const journal = Journal.create(options());
    await write(journal, key(1), key(2));
    await write(journal, { removed: 'key', id: 1 });
    assert.deepEqual(names(), ['key 2']);
    await journal.close();
    assert.equal(readJournal(file)?.tornBytes, 0);
  });

  it('writes waiting changes together and in order', async () => {
    const journal = Journal.create(options());
    for (let count = 0; count < 1_000; count += 1) journal.append([key(1, `name ${count}`)]);
    await journal.whenDurable();
    assert.deepEqual(names(), ['name 999']);
    assert(readFileSync(file, 'utf8').split('\n').length < 20);
    await journal.close();
  });

  it('discards any torn end and continues after the last good line', async () => {
    const journal = Journal.create(options());
    await write(journal, key(1));
    await journal.close();
    const good = statSync(file).size;
    const again = Journal.resume(options(), good);
    await write(again, key(2));
    await again.close();
    const whole = statSync(file).size;
    for (let size = good; size < whole; size += 1) {
      truncateSync(file, size);
      const read = readJournal(file);
      assert.deepEqual([read?.goodBytes, read?.tornBytes, names()], [good, size - good, ['key 1']]);
      writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.alloc(4096)]));
      assert.deepEqual(names(), ['key 1']);
      truncateSync(file, good);
      const mended = Journal.resume(options(), good);
      await write(mended, key(2));
      await mended.close();
    }
  });

  it('detects every flipped bit, including those of the last line', async () => {
    const journal = Journal.create(options());
    await write(journal, key(1, 'spaces and *JJ*'));
    await write(journal, { removed: 'key', id: 1 });
    // As after a kill: not closed, with zeros after the last line.
    const unclosed = readFileSync(file).subarray(0, 1024);
    await journal.close();
    const { size } = statSync(file);
    const closed = unclosed.subarray(0, size);
    const lastLine = closed.subarray(0, -1).lastIndexOf(10) + 1;
    for (const [whole, from] of [
      [unclosed, 0],
      [closed, lastLine],
    ] as const) {
      for (let bit = from * 8; bit < size * 8; bit += 1) {
        const damaged = Buffer.from(whole);
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        writeFileSync(file, damaged);
        assert.throws(() => readJournal(file), /is damaged/, `bit ${bit & 7} of byte ${bit >> 3} of ${size}`);
      }
    }
  });

  it('discards a last line of which a power cut lost any blocks', async () => {
    const block = 512;
    const journal = Journal.create(options());
    await write(journal, key(1));
    await journal.close();
    const good = statSync(file).size;
    const again = Journal.resume(options(), good);
    await write(again, key(2, 'x'.repeat(4 * block)));
    const bytes = readFileSync(file).subarray(0, 20 * block);
    await again.close();
    const end = statSync(file).size;
    const blocks = Array.from({ length: Math.ceil(end / block) - Math.floor(good / block) }, (_, n) => ({
      from: Math.max(good, (Math.floor(good / block) + n) * block),
      to: Math.min(end, (Math.floor(good / block) + n + 1) * block),
    }));
    assert(blocks.length > 4);
    for (let lost = 1; lost < 1 << blocks.length; lost += 1) {
      const torn = Buffer.from(bytes);
      for (const [n, { from, to }] of blocks.entries()) if ((lost & (1 << n)) !== 0) torn.fill(0, from, to);
      writeFileSync(file, torn);
      assert.deepEqual([readJournal(file)?.goodBytes, names()], [good, ['key 1']], `lost blocks ${lost}`);
    }
  });

  it('keeps revoked keys in a snapshot', async () => {
    const written = new AccountState();
    for (const change of [key(1), { removed: 'key', id: 1 } as const]) written.apply(change);
    await Journal.create({ ...options(), snapshot: () => written.snapshot() }).close();
    const read = new AccountState();
    for (const change of readJournal(file)?.changes ?? []) read.apply(change);
    assert(read.revokedKeys.has('0'.repeat(64)));
    assert.equal(read.nextKeyId(), 2);
  });

  it('stays small when the same record changes often', async () => {
    const journal = Journal.create(options());
    for (let round = 0; round < 300; round += 1) {
      for (let count = 0; count < 100; count += 1)
        journal.append([key(count, `round ${round} ${'x'.repeat(200)}`)]);
      for (let count = 0; count < 100; count += 1)
        account.apply(key(count, `round ${round} ${'x'.repeat(200)}`));
      await journal.whenDurable();
    }
    assert(statSync(file).size < 6 * 1024 * 1024, String(statSync(file).size));
    assert.equal(names().length, 100);
    assert(names().every((name) => name.startsWith('round 299 ')));
    await journal.close();
  });

  it('writes changes that arrive during the sync before a snapshot only once, in the snapshot', async () => {
    const journal = Journal.create(options());
    journal.append([key(1, 'x'.repeat(5 * 1024 * 1024))]);
    const late = [key(2), { removed: 'key', id: 2 }] as const;
    journal.append(late);
    for (const change of late) account.apply(change);
    await journal.whenDurable();
    const changes = readJournal(file)?.changes ?? [];
    assert.deepEqual([...changes], [...account.snapshot()]);
    await write(journal, key(3));
    await journal.close();
    assert.ok(names().includes('key 3'));
  });

  it('keeps durable changes and rejects all later ones after a write error', async () => {
    const journal = Journal.create(options());
    await write(journal, key(1));
    // A closed file has the effect of a disk that was removed.
    await journal.close();
    journal.append([key(2)]);
    await assert.rejects(async () => journal.whenDurable());
    await assert.rejects(async () => journal.whenDurable());
    assert.equal(failures.length, 1);
    assert.deepEqual(names(), ['key 1']);
  });
});
