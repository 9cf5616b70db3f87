/**
 * One service per data directory. `service.lock` names the process that has it, by pid and start time, and appears
 * whole or not at all; what a killed service left is recognised by that. `service.json` tells others where the
 * running one answers.
 *
 * A lock that a dead process left is never taken away, for somebody else may have put a good one in its place since it was
 * read. Whoever wants to succeed the dead one makes a file named after it, which only one can; in that, a process may have
 * died too, and have a successor. Who comes last in this chain has the lock, and puts its file in the place of the first.
 */
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import { StartFailure, systemReason } from '../core/systemReason.ts';

export interface InstanceLock {
  /** Writes the address for others, and the secret by which this service and they recognise each other. */
  publish(baseUrl: string, leaseSecret: string): void;
  release(): void;
}

type Owner = ProcessIdentity;

/** How long a service that is just starting gets to tell its address, in tries of 50 ms. */
const ADDRESS_TRIES = 10;

/** @throws {StartFailure} `alreadyRunning`, with the running one's base address */
export async function lockInstance(folder: string): Promise<InstanceLock> {
  const lock = path.join(folder, 'service.lock');
  const info = path.join(folder, 'service.json');
  const me = ownIdentity();
  const owner = take(lock, me);
  if (owner !== undefined) throw await alreadyRunning(folder, info, owner);
  return {
    publish(baseUrl, leaseSecret) {
      const startedAt = new Date(me.startedAt * 1000).toISOString();
      writeWhole(info, JSON.stringify({ baseUrl, pid: me.pid, startedAt, leaseSecret }));
    },
    release() {
      rmSync(info, { force: true });
      rmSync(lock, { force: true });
    },
  };
}

/** More than this do not start at the same moment. */
const MOST_TRIES = 1000;

/** @returns who has the lock already; undefined: it is ours now */
function take(lock: string, me: Owner): Owner | undefined {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (place(lock, me)) return undefined;
    const last = chain(lock).at(-1);
    if (last === undefined) continue; // Given back just now.
    if (isRunning(last)) return last;
    const claim = successionFile(lock, last);
    if (!place(claim, me)) continue;
    // Between the look and the claim others may have come to an end with all of it.
    if (isSame(chain(lock).at(-1), me)) {
      renameSync(claim, lock);
      return undefined;
    }
    rmSync(claim, { force: true });
  }
  throw new StartFailure('dataDirectory', `Cannot use ${lock}: it cannot be read, or changes all the time`);
}

/** Makes a file that names us, whole. @returns whether it was not there before */
function place(file: string, me: Owner): boolean {
  const mine = `${file}.${me.pid}`;
  try {
    writeFileSync(mine, JSON.stringify(me), { mode: 0o600 });
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (systemReason(error) === 'EEXIST') return false;
    throw cannotWrite(file, error);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Who had the lock, and whoever succeeded each. */
function chain(lock: string): Owner[] {
  const owners: Owner[] = [];
  let owner = readOwner(lock);
  while (owner !== undefined && owners.length < MOST_TRIES) {
    owners.push(owner);
    owner = readOwner(successionFile(lock, owner));
  }
  return owners;
}

const successionFile = (lock: string, { pid, startedAt }: Owner): string =>
  `${lock}.after-${pid}-${Math.round(startedAt * 1000)}`;

const isSame = (owner: Owner | undefined, me: Owner): boolean =>
  owner?.pid === me.pid && owner.startedAt === me.startedAt && owner.mark === me.mark;

/** @returns undefined when there is no such file; nobody, when it tells of nobody */
function readOwner(file: string): Owner | undefined {
  const owner = readJson(file);
  if (owner === undefined && !existsSync(file)) return undefined;
  const known = typeof owner === 'object' && owner !== null ? (owner as Partial<Owner>) : {};
  const { pid, startedAt, mark } = known;
  const isMarked = typeof mark === 'string';
  return { pid: Number(pid ?? 0), startedAt: Number(startedAt ?? 0), mark: isMarked ? mark : undefined };
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

const cannotWrite = (file: string, error: unknown): StartFailure =>
  new StartFailure('dataDirectory', `Cannot write ${file}: ${systemReason(error)}`);

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // Missing, or not ours: as good as nothing.
  }
}

function writeWhole(file: string, text: string): void {
  const fresh = `${file}.new`;
  try {
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, file);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}
