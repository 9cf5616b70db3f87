/**
 * One service per data directory. `service.lock` names the process that has it, by pid and start time, and appears
 * whole or not at all; what a killed service left is recognised by that. `service.json` tells others where the
 * running one answers.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isSameProcess, processMark, startTime } from '../processIdentity.ts';
import { StartFailure, systemReason } from '../startFailure.ts';

export interface InstanceLock {
  /** Tells others the address. */
  publish(baseUrl: string): void;
  release(): void;
}

interface Owner {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** See `processMark`; a service of an earlier version has none. */
  readonly mark?: string | undefined;
}

/** How long a service that is just starting gets to tell its address, in tries of 50 ms. */
const ADDRESS_TRIES = 10;

/** @throws {StartFailure} `alreadyRunning`, with the running one's base address */
export async function lockInstance(folder: string): Promise<InstanceLock> {
  const lock = path.join(folder, 'service.lock');
  const info = path.join(folder, 'service.json');
  const me: Owner = {
    pid: process.pid,
    startedAt: startTime(process.pid) ?? performance.timeOrigin / 1000,
    mark: processMark(process.pid),
  };
  for (let owner = tryLock(lock, me); owner !== undefined; owner = tryLock(lock, me)) {
    if (isRunning(owner)) throw await alreadyRunning(folder, info, owner);
    removeStale(lock, owner);
  }
  return {
    publish(baseUrl) {
      const startedAt = new Date(me.startedAt * 1000).toISOString();
      writeWhole(info, JSON.stringify({ baseUrl, pid: me.pid, startedAt }));
    },
    release() {
      rmSync(info, { force: true });
      rmSync(lock, { force: true });
    },
  };
}

const isRunning = ({ pid, startedAt, mark }: Owner): boolean =>
  mark === undefined ? isSameProcess(pid, startedAt) : processMark(pid) === mark;

/** @returns who has the lock already; undefined: it is ours now */
function tryLock(lock: string, me: Owner): Owner | undefined {
  const mine = `${lock}.${me.pid}`;
  try {
    writeFileSync(mine, JSON.stringify(me), { mode: 0o600 });
    linkSync(mine, lock);
    return undefined;
  } catch (error) {
    if (systemReason(error) === 'EEXIST') return readOwner(lock);
    throw new StartFailure('dataDirectory', `Cannot write ${lock}: ${systemReason(error)}`);
  } finally {
    rmSync(mine, { force: true });
  }
}

function readOwner(lock: string): Owner {
  const owner = readJson(lock);
  const known = typeof owner === 'object' && owner !== null ? (owner as Partial<Owner>) : {};
  const { pid, startedAt, mark } = known;
  const isMarked = typeof mark === 'string';
  return { pid: Number(pid ?? 0), startedAt: Number(startedAt ?? 0), mark: isMarked ? mark : undefined };
}

/** Taken away under another name first: someone else may have been quicker, and then it is no longer stale. */
function removeStale(lock: string, stale: Owner): void {
  const aside = `${lock}.stale-${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return; // Gone already: the next try decides.
  }
  const taken = readOwner(aside);
  if (taken.pid !== stale.pid || taken.startedAt !== stale.startedAt) linkSync(aside, lock);
  rmSync(aside, { force: true });
}

async function alreadyRunning(folder: string, info: string, owner: Owner): Promise<StartFailure> {
  for (let tries = 0; tries < ADDRESS_TRIES; tries += 1) {
    const running = readJson(info);
    if (typeof running === 'object' && running !== null && 'pid' in running && 'baseUrl' in running) {
      const where = `at ${String(running.baseUrl)} (process ${owner.pid})`;
      if (running.pid === owner.pid) return failure(folder, where);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return failure(folder, `as process ${owner.pid}, which has not told its address yet`);
}

const failure = (folder: string, where: string): StartFailure =>
  new StartFailure('alreadyRunning', `A service runs on ${folder} already, ${where}.`);

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // Missing, or not ours: as good as nothing.
  }
}

function writeWhole(file: string, text: string): void {
  const fresh = `${file}.new`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
}
