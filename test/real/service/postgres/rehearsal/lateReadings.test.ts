/** What a rehearsal notes when a reading of its locks overlaps with other statements and transactions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { mock } from 'node:test';
import type pg from 'pg';
import type { ServerDependencies } from '../../../../../src/service/postgres/branchData/branchData.ts';
import { LockReader } from '../../../../../src/service/postgres/rehearsal/lockReader.ts';
import { RehearsalObserver } from '../../../../../src/service/postgres/rehearsal/rehearsalObserver.ts';
import { readPostmasterPid, type Postmaster } from '../../../../../src/service/postgres/server/postmaster.ts';
import { signalServer } from '../../../../../src/service/postgres/server/serverProcess.ts';
import { plainSocketOptions } from '../../../../../src/service/postgres/server/serverAddress.ts';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { connectTo, eventually } from '../clients.ts';
import { startControlPlane, superuserUri, type ControlPlane } from '../controlPlane.ts';
import { usualPostgres } from '../usualPostgres.ts';

const HELD_COMMITS = `select from pg_stat_activity where wait_event = 'SyncRep' and backend_type = 'client backend'`;

describe('A reading of a rehearsal', () => {
  let plane: ControlPlane;
  /** The address of the server, where no session is observed. Commits are held there, too. */
  let direct: string;
  /** An observer in this process, in which answers can be held back. */
  let observer: RehearsalObserver;
  let proxy: net.Server;
  let observed: string;
  let other: pg.Client;

  before(async () => {
    plane = await startControlPlane();
    direct = superuserUri(plane, await plane.uri(await plane.create()));
    const setUp = await connectTo(direct);
    await setUp.query('create table t as select generate_series(1, 3) as id');
    const storage = storageOf(plane);
    const dataDir = path.join(storage, 'branches/br-main/data');
    const logins = JSON.parse(readFileSync(path.join(storage, 'logins.json'), 'utf8'));
    const [, , , port, socket, host] = readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    const address = { host: socket?.trim() || (host ?? ''), port: Number(port) };
    const { pid } = readPostmasterPid(dataDir) ?? assert.fail();
    const reload = () => signalServer(usualPostgres().postgres, pid, 'SIGHUP');
    const server = { address, isStopping: false, reload };
    const deps = { logins, binaries: { major: 18 } } as unknown as ServerDependencies;
    observer = await RehearsalObserver.start(deps, server as unknown as Postmaster, dataDir);
    proxy = net.createServer((client) =>
      client.once('data', (first) => {
        const connected = net.connect(plainSocketOptions(address));
        connected.write(first);
        observer.connect(client, connected);
      }),
    );
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port: proxyPort } = proxy.address() as net.AddressInfo;
    observed = direct.replace(/@[^/]+/, `@127.0.0.1:${proxyPort}`);
  });
  after(async () => {
    proxy.close();
    await observer.end();
    await plane.close();
  });
  beforeEach(async () => (other = await connectTo(direct)));
  afterEach(() => mock.restoreAll());

  /** Holds the first reading back that finds such locks, and no later one. */
  const holdReading = (isHeld: (tables: readonly string[]) => boolean) => {
    const [read, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const locks: LockReader['locks'] = Reflect.get(LockReader.prototype, 'locks');
    let wasHeld = false;
    mock.method(LockReader.prototype, 'locks', async function (this: LockReader, pids: readonly number[]) {
      const answer = await locks.call(this, pids);
      if (wasHeld || !isHeld(answer.map(({ table }) => table))) return answer;
      wasHeld = true;
      read.resolve();
      await release.promise;
      return answer;
    });
    return { read: read.promise, release: () => release.resolve() };
  };

  it('takes no time from a statement that began after it', async () => {
    const client = await connectTo(observed);
    const late = await connectTo(direct);
    const reading = holdReading(() => true);
    const committed = other.query('create table others ()');
    await reading.read;
    for (let count = 0; count < 100; count += 1) await client.query('select 1');
    const inserted = client.query('insert into t values (4)');
    await eventually(async () => (await late.query(HELD_COMMITS)).rows.length === 2);
    reading.release();
    await Promise.all([committed, inserted]);
    const seen = (await observer.read()).statements.find(({ text }) => text.startsWith('insert'));
    assert.ok((seen?.milliseconds ?? -1) >= 0, JSON.stringify(seen));
  });

  it('finds no lock again that was released before its answer arrives', async () => {
    await other.query('create table brief (id int); select pg_advisory_lock(7)');
    const client = await connectTo(observed);
    const reading = holdReading((tables) => tables.includes('public.brief'));
    const inserted = client.query(
      'insert into brief select id from t where pg_advisory_xact_lock(7) is not null',
    );
    await reading.read;
    await other.query('select pg_advisory_unlock(7)');
    await inserted;
    reading.release();
    const { locks } = await observer.read();
    assert.equal(locks.filter(({ table }) => table === 'public.brief').length, 1);
  });

  it('is complete without a count of changed rows while another session waits to lock their table', async () => {
    const client = await connectTo(observed);
    await client.query('begin; update t set id = id; select pg_sleep(0.15)');
    const locked = other.query('begin; lock table t; rollback');
    const late = await connectTo(direct);
    await eventually(
      async () => (await late.query('select from pg_locks where not granted')).rows.length > 0,
    );
    await client.query('commit');
    await locked;
    assert.equal((await observer.read()).problem, undefined);
  });

  it('counts changed rows only for a commit', async () => {
    const counting = mock.method(LockReader.prototype, 'changedRows');
    const client = await connectTo(observed);
    await client.query('begin; update t set id = id; select pg_sleep(0.15)');
    // It flushes the log, and commits nothing.
    for (let count = 0; count < 3; count += 1) {
      await other.query('select pg_switch_wal()');
      await client.query('update t set id = id');
    }
    assert.equal(counting.mock.callCount(), 0);
    await client.query('commit');
    assert.equal(counting.mock.callCount(), 1);
    const { locks } = await observer.read();
    const [changed] = locks.filter(({ rows }) => rows !== undefined);
    assert.equal(changed?.rows, (await other.query('select from t')).rows.length);
  });

  it('keeps the count of rows that the transaction no longer locks', async () => {
    const client = await connectTo(observed);
    await client.query('begin; update t set id = id where false; select pg_sleep(0.15); savepoint s');
    await client.query('update t set id = id where id = 1');
    await other.query('create table counted ()');
    await client.query('rollback to s');
    await other.query('create table countedAgain ()');
    await client.query('rollback');
    const { locks } = await observer.read();
    const changed = locks.filter(({ mode, table }) => mode === 'RowExclusiveLock' && table === 'public.t');
    assert.equal(changed.at(-1)?.rows, 1);
  });
});
