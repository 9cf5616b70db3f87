/** Timers: service/state/store.ts. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readAccountFile } from '../../../../src/service/state/accountFile.ts';
import { AccountState } from '../../../../src/service/state/accountState.ts';
import { Store } from '../../../../src/service/state/store.ts';
import type { Mutation } from '../../../../src/service/state/storedRecords.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { startLocalService, temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { didNotStart } from '../didNotStart.ts';

const key = (id: number, name = `key ${id}`): Mutation => ({
  set: 'key',
  value: { id, name, hash: String(id), created_at: '', last_used_at: null, last_used_from_addr: '' },
});

describe('The account file', () => {
  let folder: string;
  let file: string;
  let store: Store;
  let clock: FakeClock;
  let log: string[];
  let snapshots: number;
  beforeEach(async () => {
    folder = temporaryFolder();
    file = path.join(folder, 'account.json');
    clock = new FakeClock();
    log = [];
    store = await Store.open({
      folder,
      seed: async () => new AccountState(),
      clock,
      log: (line) => void log.push(line),
      check: () => undefined,
    });
    const { account } = store;
    const snapshot = account.snapshot.bind(account);
    snapshots = 0;
    account.snapshot = () => ((snapshots += 1), snapshot());
  });

  const stored = () => {
    const read = new AccountState();
    for (const change of readAccountFile(file) ?? []) read.apply(change);
    return read;
  };

  it('is undefined before it is written', () => assert.equal(readAccountFile(`${file}.none`), undefined));

  it('has what was changed before whenDurable resolved, and is not written without a change', async () => {
    store.commit(key(1));
    store.commit(key(2));
    store.commit({ removed: 'key', id: 1 });
    await store.whenDurable();
    assert.deepEqual([...stored().keys.keys()], [2]);
    assert.equal(stored().revokedKeys.get('1'), 1);
    assert.equal(stored().nextKeyId(), 3);
    const before = snapshots;
    store.commit();
    await store.whenDurable();
    assert.equal(snapshots, before);
  });

  it('is not created again next to that of version 0.2, which is left as it is', async () => {
    const dataDir = temporaryFolder();
    const old = path.join(dataDir, 'account.journal');
    writeFileSync(old, 'of 0.2');
    const start = () => startLocalService({ postgres: false, dataDir });
    await assert.rejects(
      start(),
      didNotStart(10, /account\.journal is the account of version 0\.2 or older/),
    );
    assert.deepEqual(readdirSync(dataDir), ['account.journal']);
    // Version 0.3 began a new account, which is used further.
    rmSync(old);
    await (await start()).stop();
    writeFileSync(old, 'of 0.2');
    const code = await (await start()).stop();
    // Windows has no signals, so a service that is stopped has no exit code.
    assert.equal(code, process.platform === 'win32' ? null : 0);
    rmSync(dataDir, { recursive: true });
  });

  it('is read if an older version wrote it, which knew no snapshots', async () => {
    store.commit(key(1));
    await store.whenDurable();
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":4', '"format":3'));
    assert.deepEqual([...stored().keys.keys()], [1]);
  });

  it('writes changes that arrive during a write together', async () => {
    store.commit(key(1));
    await Promise.resolve(); // The first write begins.
    for (let count = 0; count < 1000; count += 1) store.commit(key(1, `name ${count}`));
    await store.whenDurable();
    assert.equal(stored().keys.get(1)?.name, 'name 999');
    assert.equal(snapshots, 2);
  });

  it('is reported as damaged if a bit, a line or the end is lost, doubled or changed', async () => {
    for (const id of [1, 2, 3]) store.commit(key(id));
    await store.whenDurable();
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

  it('keeps what was durable after a failed write, and rejects until it can be written', async () => {
    store.commit(key(1));
    await store.whenDurable();
    const obstacle = `${file}.new`;
    mkdirSync(path.join(obstacle, 'full'), { recursive: true });
    store.commit(key(2));
    await assert.rejects(async () => store.whenDurable(), /Cannot write to .*account\.json/);
    store.commit(key(3));
    await assert.rejects(store.whenDurable());
    assert.equal(log.length, 1);
    assert.deepEqual([...stored().keys.keys()], [1]);
    rmSync(obstacle, { recursive: true });
    await store.whenDurable();
    assert.deepEqual([...stored().keys.keys()], [1, 2, 3]);
  });

  it('is written every ten seconds until it can be, if no client waits for it', async () => {
    mkdirSync(`${file}.new/full`, { recursive: true });
    store.commit(key(1));
    const written = store.untilDurable();
    await until('the first failure', async () => log.length === 1);
    clock.advance(9_999);
    assert.equal(snapshots, 1);
    assert.deepEqual(clock.waits, [1]);
    await clock.turn();
    assert.equal(await clock.turn(), 10_000);
    rmSync(`${file}.new`, { recursive: true });
    clock.next();
    await written;
    assert.deepEqual([...stored().keys.keys()], [1]);
    assert.equal(log.length, 1);
  });
});
