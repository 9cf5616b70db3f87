/** Finds the copies of rehearsals that were killed, by the process that has made them. */
import os from 'node:os';
import { fieldsOfJson } from '../base/fieldsOf.ts';
import {
  identityIn,
  isRunning,
  readOwnStartTime,
  uniqueProcessId,
  type ProcessIdentity,
} from '../base/processIdentity.ts';
import { COPY_NAME_PREFIX } from './copySettings.ts';

/** A branch has it as JSON. */
export interface CopyMaker extends ProcessIdentity {
  /** A container is a host of its own, whose processes aren't known to others. Missing in branches of earlier versions. */
  readonly host?: string;
}

/** Describes this process. On Linux, `uniqueId` is enough, and nothing is started to read when the process began. */
export async function ownMaker(): Promise<CopyMaker> {
  const uniqueId = uniqueProcessId(process.pid);
  const startedAt = uniqueId === undefined ? await readOwnStartTime() : undefined;
  return {
    pid: process.pid,
    startedAt: startedAt ?? performance.timeOrigin / 1000,
    uniqueId,
    host: os.hostname(),
  };
}

/**
 * Whether a branch is the copy of a rehearsal whose process has ended. One whose annotation names no process isn't.
 * @param branch `maker`: as JSON
 */
export async function isAbandonedCopy({
  name,
  maker,
}: {
  readonly name?: string | null | undefined;
  readonly maker?: string | undefined;
}): Promise<boolean> {
  if (!name?.startsWith(COPY_NAME_PREFIX) || maker === undefined) return false;
  const fields = fieldsOfJson(maker);
  const { host = os.hostname() } = fields;
  const identity = identityIn(fields);
  return identity !== undefined && host === os.hostname() && !(await isRunning(identity));
}
