/** One service per data directory. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { lockInstance } from '../../../../src/service/state/instanceLock.ts';
import { call } from '../../../helpers/call.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import {
  accountFile,
  hasReleasedLock,
  startLocalService,
  temporaryFolder,
  type LocalService,
} from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { projectRoot } from '../../../workbench/folders.ts';
import { didNotStart } from '../didNotStart.ts';

describe('The lock of a data directory', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const start = (): Promise<LocalService> => startLocalService({ postgres: false, dataDir: folder });

  it('makes a second service exit with 3 and name the first', async () => {
    const first = await start();
    await assert.rejects(
      start(),
      didNotStart(3, new RegExp(`already running on .*, at ${first.baseUrl} \\(process ${first.pid}\\)`)),
    );
    assert.equal((await call(first.baseUrl, { path: '/projects', key: first.key })).status, 200);
  });

  it('stays valid when the clock is changed', async () => {
    await start();
    const lock = path.join(folder, 'service.lock');
    const owner = JSON.parse(readFileSync(lock, 'utf8')) as { startedAt: number };
    // Other processes now see another start time of the first one.
    writeFileSync(lock, JSON.stringify({ ...owner, startedAt: owner.startedAt - 3600 }));
    if (process.platform === 'linux') await assert.rejects(start(), didNotStart(3, /already/));
  });

  it('lets only one of several services start at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => start()));
    const running = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.equal(running.length, 1);
    await running[0]?.stop();
  });

  it('is replaced after a kill, even if its pid belongs to another process now', async () => {
    await (await start()).kill();
    assert(existsSync(path.join(folder, 'service.lock')));
    await (await start()).stop();
    writeFileSync(path.join(folder, 'service.lock'), JSON.stringify({ pid: process.pid, startedAt: 1 }));
    await (await start()).stop();
    writeFileSync(path.join(folder, 'service.lock'), 'nonsense');
    await (await start()).stop();
  });

  it('is replaced after a kill even if a service that was about to replace it was killed too', async () => {
    for (const name of ['service.lock', `service.lock.after-${process.pid}`])
      writeFileSync(path.join(folder, name), JSON.stringify({ pid: process.pid, startedAt: 1 }));
    await (await start()).stop();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('service.lock.')),
      [],
    );
  });

  describe('of another machine', () => {
    const clock = new FakeClock(Date.now());
    const foreign = { pid: process.pid, startedAt: 1, uniqueId: '1 other', host: 'otherhost' };
    let lost: string[];
    let log: string[];
    let lock: string;
    beforeEach(() => {
      [lost, log] = [[], []];
      lock = path.join(folder, 'service.lock');
      writeFileSync(lock, JSON.stringify(foreign));
      // The clocks of both machines may say anything.
      utimesSync(lock, 1, 1);
    });
    const take = () =>
      lockInstance(folder, {
        clock,
        log: (line) => void log.push(line),
        onLost: ({ message }) => void lost.push(message),
      });
    /** Until the lock is taken or refused. */
    const watch = async (taken: Promise<unknown>, turn: (waited: number) => void) => {
      let waited = 0;
      let isSettled = false;
      const settle = () => (isSettled = true);
      void taken.then(settle, settle);
      for (;;) {
        await until('a look at the lock', async () => isSettled || clock.waits.length > 0);
        if (isSettled) return waited;
        turn(waited);
        waited += clock.next();
      }
    };

    it('is respected while it is renewed', async () => {
      const taken = take();
      const waited = await watch(taken, (time) => {
        if (time === 10_000) utimesSync(lock, 1, 2);
      });
      await assert.rejects(taken, /already running on .*, on the machine otherhost\./);
      assert.equal(waited, 10_500);
      assert.equal(JSON.parse(readFileSync(lock, 'utf8')).host, 'otherhost');
    });

    it('is replaced if it was not renewed for 30 seconds', async () => {
      const taken = take();
      assert.equal(await watch(taken, () => undefined), 30_000);
      assert.match(log.join(), /^Waiting 30 s, .* on the machine otherhost\.$/);
      assert.equal(JSON.parse(readFileSync(lock, 'utf8')).pid, process.pid);
      (await taken).release();
      assert.equal(existsSync(lock), false);
    });

    it('is renewed every ten seconds until the service ends', async () => {
      rmSync(lock);
      const held = await take();
      const isRenewedAfter = (milliseconds: number) => {
        utimesSync(lock, 1, 1);
        clock.advance(milliseconds);
        return statSync(lock).mtimeMs > 1000;
      };
      assert.equal(isRenewedAfter(9_999), false);
      assert.equal(isRenewedAfter(1), true);
      assert.equal(isRenewedAfter(10_000), true);
      held.requireHeld();
      held.release();
      writeFileSync(lock, '');
      assert.equal(isRenewedAfter(20_000), false);
      assert.deepEqual(lost, []);
    });

    it('is lost to a service that has taken it, before the next write and at the next renewal', async function () {
      if (process.platform === 'win32') return this.skip(); // It replaces no open file.
      rmSync(lock);
      const held = await take();
      writeFileSync(`${lock}.new`, JSON.stringify(foreign));
      renameSync(`${lock}.new`, lock);
      assert.throws(() => held.requireHeld(), /Another service uses .* now/);
      assert.equal(lost.length, 1);
      clock.advance(10_000);
      assert.equal(lost.length, 2);
      held.release();
      assert.equal(JSON.parse(readFileSync(lock, 'utf8')).host, 'otherhost');
    });
  });

  it('is lost to another service before a change is written, and the service ends', async function () {
    if (process.platform === 'win32') return this.skip(); // It replaces no open file.
    const first = await start();
    await first.client.listApiKeys(); // The reply waits until what the start has changed is on the disk.
    const lock = path.join(folder, 'service.lock');
    const account = readFileSync(accountFile(folder));
    writeFileSync(
      `${lock}.new`,
      JSON.stringify({ pid: 1, startedAt: 1, uniqueId: '1 other', host: 'otherhost' }),
    );
    renameSync(`${lock}.new`, lock);
    await assert.rejects(first.client.createApiKey('lost'));
    assert.equal(await first.ended, 5);
    assert.match(first.stderr(), /Another service uses .* now/);
    assert.deepEqual(readFileSync(accountFile(folder)), account);
    assert.equal(JSON.parse(readFileSync(lock, 'utf8')).host, 'otherhost');
  });

  it('is kept, lost and released by a service of root that can no longer enter the folder', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    chmodSync(folder, 0o700);
    const dataDir = path.join(folder, 'data');
    const lock = path.join(dataDir, 'service.lock');
    const first = await startLocalService({ postgres: false, dataDir });
    await first.client.createApiKey('kept');
    assert.equal(await first.stop(), 0, first.stderr());
    assert.ok(hasReleasedLock(dataDir));
    const second = await startLocalService({ postgres: false, dataDir, key: first.key });
    writeFileSync(`${lock}.new`, readFileSync(lock));
    renameSync(`${lock}.new`, lock);
    await assert.rejects(second.client.createApiKey('lost'));
    assert.equal(await second.ended, 5);
    assert.match(second.stderr(), /Another service uses .* now/);
  });

  it('goes to only one of several services after a kill', async () => {
    const turns = Array.from({ length: 50 }, (_, turn) => path.join(folder, String(turn)));
    for (const each of turns) {
      mkdirSync(each);
      writeFileSync(path.join(each, 'service.lock'), JSON.stringify({ pid: process.pid, startedAt: 1 }));
    }
    const script = path.join(import.meta.dirname, 'lockTaker.ts');
    const args = [script, folder, String(Date.now() + 2_000), String(turns.length), '10'];
    const takers = Array.from({ length: 4 }, () => spawn(process.execPath, args));
    const outcomes = await Promise.all(
      takers.map(async ({ stdout }) => JSON.parse(String((await once(stdout, 'data'))[0])) as unknown[]),
    );
    for (const { stdin } of takers) stdin.end();
    for (const turn of turns.keys()) {
      const others = outcomes.map((outcome) => outcome[turn]).filter((taken) => taken !== true);
      assert.deepEqual(others, [false, false, false], String(turn));
    }
    assert.deepEqual(readdirSync(turns[0] ?? '').toSorted(), [
      'instance.lock',
      'service.json',
      'service.lock',
    ]);
  });

  it('is not looked for in the temporary directories of other users', function () {
    if (process.platform === 'win32') return this.skip();
    const names = ['abandoned', 'of-another-user', 'without-lock', 'file'];
    const paths = names.map((name) => path.join(folder, `hosted-postgres-temporary-${name}`));
    const [abandoned = '', another = '', withoutLock = '', file = ''] = paths;
    for (const each of [abandoned, another, withoutLock]) mkdirSync(each);
    for (const each of [abandoned, another])
      writeFileSync(path.join(each, 'service.lock'), JSON.stringify({ pid: process.pid, startedAt: 1 }));
    writeFileSync(file, '');
    // Root may read all directories, so it becomes another user.
    const isRoot = process.getuid?.() === 0;
    const uid = isRoot ? 65_534 : process.getuid?.();
    if (isRoot) for (const each of [abandoned, withoutLock, file]) lchownSync(each, uid ?? 0, 0);
    chmodSync(folder, 0o755);
    chmodSync(another, isRoot ? 0o700 : 0);
    const module = path.join(projectRoot, 'src/service/state/instanceLock.ts');
    const code = `
      import { findAbandonedDirectories } from ${JSON.stringify(pathToFileURL(module).href)};
      process.setuid(${uid});
      console.log(JSON.stringify(findAbandonedDirectories(${uid})));`;
    const options = { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } } as const;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], options);
    assert.deepEqual(JSON.parse(printed), [abandoned]);
    chmodSync(another, 0o700);
  });
});
