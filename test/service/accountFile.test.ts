import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AccountFile, readAccountFile } from '../../src/service/state/accountFile.ts';
import { AccountState } from '../../src/service/state/store.ts';
import type { Mutation } from '../../src/service/state/storedRecords.ts';
import { temporaryFolder } from '../helpers/localService.ts';

const key = (id: number, name = `key ${id}`): Mutation => ({
  set: 'key',
  value: { id, name, hash: String(id), created_at: '', last_used_at: null, last_used_from_addr: '' },
});

describe('The account file', () => {
  let folder: string;
  let file: string;
  let account: AccountState;
  let accountFile: AccountFile;
  let failures: Error[];
  let snapshots: number;
  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'account.json');
    account = new AccountState();
    failures = [];
    snapshots = 0;
    accountFile = new AccountFile(
      file,
      () => ((snapshots += 1), account.snapshot()),
      (error) => failures.push(error),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const commit = (change: Mutation) => {
    account.apply(change);
    accountFile.write();
  };
  const stored = () => {
    const read = new AccountState();
    for (const change of readAccountFile(file) ?? []) read.apply(change);
    return read;
  };

  it('is undefined before it is written', () => assert.equal(readAccountFile(file), undefined));

  it('has what was changed before whenDurable resolved, and is not written without a change', async () => {
    commit(key(1));
    commit(key(2));
    commit({ removed: 'key', id: 1 });
    await accountFile.whenDurable();
    assert.deepEqual([...stored().keys.keys()], [2]);
    assert.equal(stored().revokedKeys.get('1'), 1);
    assert.equal(stored().nextKeyId(), 3);
    assert.equal(accountFile.whenDurable(), undefined);
  });

  it('writes changes that arrive during a write together', async () => {
    commit(key(1));
    await Promise.resolve(); // The first write begins.
    for (let count = 0; count < 1000; count += 1) commit(key(1, `name ${count}`));
    await accountFile.whenDurable();
    assert.equal(stored().keys.get(1)?.name, 'name 999');
    assert.equal(snapshots, 2);
  });

  it('is reported as damaged if a bit, a line or the end is lost, doubled or changed', async () => {
    for (const id of [1, 2, 3]) commit(key(id));
    await accountFile.whenDurable();
    const whole = readFileSync(file);
    const lines = whole.toString().split('\n').slice(0, -1);
    const damaged: Buffer[] = [];
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const changed = Buffer.from(whole);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      damaged.push(changed);
    }
    for (let size = 0; size < whole.length; size += 1) damaged.push(whole.subarray(0, size));
    for (const [index, line] of lines.entries()) {
      damaged.push(Buffer.from(lines.toSpliced(index, 1).join('\n') + '\n'));
      damaged.push(Buffer.from(lines.toSpliced(index, 0, line).join('\n') + '\n'));
    }
    for (const bytes of damaged) {
      writeFileSync(file, bytes);
      assert.throws(() => readAccountFile(file), /is damaged|newer version/);
    }
  });

  it('keeps what was durable and rejects all later changes after a failed write', async () => {
    commit(key(1));
    await accountFile.whenDurable();
    mkdirSync(`${file}.new/full`, { recursive: true });
    commit(key(2));
    await assert.rejects(async () => accountFile.whenDurable(), /Cannot write to .*account\.json/);
    commit(key(3));
    await assert.rejects(async () => accountFile.whenDurable());
    assert.equal(failures.length, 1);
    assert.deepEqual([...stored().keys.keys()], [1]);
  });
});
