import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import { canSignal, isAlive } from '../../../src/base/programs/isAlive.ts';
import {
  isRunningSync,
  isSameProcess,
  isRunning,
  ownIdentity,
  uniqueProcessId,
  readStartTimeSync,
  parseProcStat,
} from '../../../src/base/processIdentity.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';
import { until } from '../../workbench/until.ts';

const isLinux = process.platform === 'linux';
const ARGUMENT = 'an argument that no other process has';

describe('a process identity', () => {
  const now = () => Date.now() / 1000;
  let child: ChildProcess;
  let pid: number;
  let endedPid: number;

  before(async () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', ARGUMENT], { stdio: 'ignore' });
    pid = child.pid ?? 0;
    const ended = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    endedPid = ended.pid ?? 0;
    await once(ended, 'exit');
  });
  after(() => child.kill('SIGKILL'));

  it('has the start time in seconds since 1970', () => {
    const startedAt = readStartTimeSync(pid) ?? 0;
    assert.ok(Math.abs(startedAt - now()) < 60, String(startedAt));
    assert.equal(readStartTimeSync(endedPid), undefined);
  });

  it('describes this process', () => {
    const own = ownIdentity();
    assert.equal(own.pid, process.pid);
    assert.equal(own.startedAt, readStartTimeSync(process.pid));
    assert.equal(own.uniqueId, uniqueProcessId(process.pid));
    assert.equal(own.uniqueId !== undefined, isLinux);
  });

  it('allows three seconds of difference in the start time', () => {
    const startedAt = readStartTimeSync(pid) ?? 0;
    for (const difference of [-2.9, 0, 3]) assert.ok(isSameProcess(pid, startedAt + difference));
    for (const difference of [-3.1, 3.5]) assert.ok(!isSameProcess(pid, startedAt + difference));
    assert.ok(!isSameProcess(endedPid, startedAt));
  });

  it('accepts a unique argument for another start time on Linux', () => {
    assert.equal(isSameProcess(pid, 0, ARGUMENT), isLinux);
    assert.ok(!isSameProcess(pid, 0, 'another argument'));
    assert.ok(!isSameProcess(pid, 0));
  });

  it('shows by the start time whether the process still runs', async () => {
    const startedAt = readStartTimeSync(pid) ?? 0;
    const rows = [
      [{ pid, startedAt }, true],
      [{ pid, startedAt: startedAt - 60 }, false],
      [{ pid: endedPid, startedAt }, false],
    ] as const;
    for (const [identity, runs] of rows) {
      assert.equal(isRunningSync(identity), runs);
      assert.equal(await isRunning(identity), runs);
    }
  });

  it('shows by the unique id whether the process still runs, even if the clock was changed', async function () {
    if (!isLinux) return this.skip();
    const uniqueId = uniqueProcessId(pid);
    assert.match(uniqueId ?? '', /^\d+ [0-9a-f-]{36}$/);
    const rows = [
      [{ pid, startedAt: 0, uniqueId }, true],
      [{ pid, startedAt: readStartTimeSync(pid) ?? 0, uniqueId: `1${uniqueId}` }, false],
      [{ pid: endedPid, startedAt: 0, uniqueId }, false],
    ] as const;
    for (const [identity, runs] of rows) {
      assert.equal(isRunningSync(identity), runs);
      assert.equal(await isRunning(identity), runs);
    }
    assert.equal(uniqueProcessId(endedPid), undefined);
  });

  it('starts no program on Linux', async function () {
    if (!isLinux) return this.skip();
    const identity = { pid, startedAt: readStartTimeSync(pid) ?? 0 };
    const programs = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      assert.equal(await isRunning(identity), true);
    } finally {
      process.env['PATH'] = programs;
    }
  });

  it('treats a zombie as ended', async function () {
    if (!isLinux) return this.skip();
    const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [text]: unknown[] = await once(parent.stdout, 'data');
      const ended = Number(String(text));
      const name = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim();
      await until('the shell to become a program that reads no exit status', async () => name() === 'sleep');
      process.kill(ended, 'SIGKILL');
      await until('the process to end', async () => readStartTimeSync(ended) === undefined);
      assert.ok(isAlive(ended));
      assert.ok(!isRunningSync({ pid: ended, startedAt: now() }));
      assert.equal(uniqueProcessId(ended), undefined);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('has the same start time, and no unique id, on macOS', async function () {
    if (process.platform === 'win32') return this.skip();
    const startedAt = readStartTimeSync(pid) ?? 0;
    await onPlatform('darwin', async () => {
      const read = readStartTimeSync(pid) ?? 0;
      assert.ok(Math.abs(read - startedAt) <= 3, String(read));
      assert.equal(readStartTimeSync(endedPid), undefined);
      assert.equal(uniqueProcessId(pid), undefined);
      assert.ok(!isSameProcess(pid, 0, ARGUMENT));
      assert.equal(await isRunning({ pid, startedAt }), true);
      assert.equal(await isRunning({ pid, startedAt: read + 3 }), true);
      assert.equal(await isRunning({ pid, startedAt: read - 4 }), false);
      assert.equal(await isRunning({ pid: endedPid, startedAt }), false);
    });
  });

  it('matches any process of this user with the pid on macOS if ps is too slow, which is then ended', async function () {
    if (process.platform === 'win32') return this.skip();
    const folder = temporaryFolder();
    writeFileSync(path.join(folder, 'ps'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o700 });
    const programs = process.env['PATH'];
    process.env['PATH'] = `${folder}:${programs}`;
    try {
      await onPlatform('darwin', async () => {
        assert.equal(await isRunning({ pid, startedAt: 0 }, 1), true);
        assert.equal(await isRunning({ pid: endedPid, startedAt: 0 }, 1), false);
      });
    } finally {
      process.env['PATH'] = programs;
    }
  });

  it('matches any process of this user with the pid on Windows if PowerShell fails', async function () {
    if (process.platform === 'win32') return this.skip();
    await onPlatform('win32', async () => {
      const [alive, ended] = [
        { pid, startedAt: now() },
        { pid: endedPid, startedAt: now() },
      ];
      assert.equal(readStartTimeSync(pid), undefined);
      assert.deepEqual([isRunningSync(alive), await isRunning(alive)], [true, true]);
      assert.deepEqual([isRunningSync(ended), await isRunning(ended)], [false, false]);
      // It may have another process's pid, and would be ended.
      assert.equal(isSameProcess(pid, now()), false);
      assert.equal(ownIdentity().startedAt, performance.timeOrigin / 1000);
    });
  });
});

describe('isAlive', () => {
  const killThrows = (code: string) =>
    mock.method(process, 'kill', () => {
      throw Object.assign(new Error(code), { code });
    });

  for (const [code, alive] of [
    ['EPERM', true],
    ['ESRCH', false],
  ] as const) {
    it(`is ${alive} if a signal fails with ${code}`, () => {
      const kill = killThrows(code);
      try {
        assert.equal(isAlive(1), alive);
        assert.equal(canSignal(1), false);
        for (const call of kill.mock.calls) assert.deepEqual(call.arguments, [1, 0]);
      } finally {
        kill.mock.restore();
      }
    });
  }
});

describe('a damaged pid file', () => {
  for (const pid of [0, -process.pid, Number.NaN])
    it(`names no process that runs with ${pid}`, async () => {
      assert.deepEqual([isAlive(pid), canSignal(pid)], [false, false]);
      // Other systems have no unique id, and may not say when a process started.
      await onPlatform('win32', async () => {
        const identity = { pid, startedAt: 0 };
        assert.deepEqual([isRunningSync(identity), await isRunning(identity)], [false, false]);
      });
    });
});

describe('parseProcStat', () => {
  it('begins after the name, even if that contains parentheses and spaces', () =>
    assert.deepEqual(parseProcStat('7 (a) b) c) S 1 7'), ['S', '1', '7']));
});
