/** Reads the standard error of a server, and finds the reason for its end in it. */
import type { Readable } from 'node:stream';
import { EngineError } from '../../core/computeEngine.ts';

const KEPT_LINES = 40;

/** The most characters that are kept of an incomplete line, so that an endless one can't fill the memory. */
const MAX_PARTIAL_LENGTH = 10_000;

/** Matches messages of every start and stop. A stop also ends autovacuum, if it is at work. */
const ROUTINE =
  /^(FATAL: {2}terminating (autovacuum process|background worker ".*") due to administrator command|LOG: {2}(starting PostgreSQL|listening on|database system (was (shut down|interrupted; last known)|is ready|is shut down)|received (fast shutdown|SIGHUP)|aborting any active|background worker "logical replication|shutting down|parameter "|entering standby|redo (starts|done)|consistent recovery|completed backup recovery|starting backup recovery|creating missing WAL directory|started streaming|standby "service_rehearsal"))/;

/** What a standby repeats every few seconds while its primary is suspended. The service may quote it in its own lines. */
const RETRY =
  /could not connect to the primary server|Is the server running locally|waiting for WAL to become available|invalid record length|replication terminated by primary|End of WAL reached|could not send end-of-streaming|the database system is (starting up|shutting down)/;

/** Leaves routine messages out of a server's log. */
export function skipRoutineLines(onLine: (line: string) => void): (line: string) => void {
  let isRoutine = false;
  return (line) => {
    // A line that starts with a tab continues the one before.
    if (!line.startsWith('\t'))
      isRoutine = ROUTINE.test(line) || (/^[A-Z]+: {2}/.test(line) && RETRY.test(line));
    if (!isRoutine) onLine(line);
  };
}

/** Passes each line to the listener, and adds it to the last lines. */
export function followLog(stream: Readable, last: string[], listener: (line: string) => void): void {
  let partial = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (partial + text).split('\n');
    partial = (lines.pop() ?? '').slice(0, MAX_PARTIAL_LENGTH);
    for (const line of lines.map((each) => each.trimEnd())) {
      last.push(line);
      if (last.length > KEPT_LINES) last.shift();
      listener(line);
    }
  });
}

/** The position of an invalid setting, in a file that only the service uses. */
const POSITION = / in file ".*" line \d+/;

/** The reason on Windows, such as in a VS Code that was started as administrator. Postgres's own message has no level. */
const ADMINISTRATOR =
  'Postgres does not run as administrator. Start VS Code, or the service, as an ordinary user.';

/** Whether a program ended because it doesn't run as administrator. `pg_ctl` can start it without these rights. */
export const isAdministratorRefused = (error: unknown): boolean =>
  error instanceof EngineError && error.message === ADMINISTRATOR;

/** macOS has 32 segments for all servers. */
const NO_SEGMENT = /could not create shared memory segment[\s\S]*shmget/;
const NO_SHARED_MEMORY =
  'This machine has no shared memory segment left for another Postgres. Suspend computes or stop other Postgres servers, or raise shmmni (sysctl kern.sysv on macOS, kernel on Linux).';

/** Matches a full disk. The system says the same about shared memory, which doesn't count here. */
const NO_SPACE = /^(?!.*shared memory).*No space left on device/;
const DISK_FULL = 'The disk is full. Free some space and try again.';

/** What Postgres writes before the level, unless it has our settings. */
const PREFIX = /^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] /;

/**
 * Finds why a Postgres program ended: its last FATAL or ERROR with detail and hint. An invalid setting is named before that, at
 * level LOG.
 */
export function findReason(output: readonly string[]): string | undefined {
  const lines = output.map((line) => line.replace(PREFIX, ''));
  if (lines.some((line) => line.includes('by a user with administrative permissions'))) return ADMINISTRATOR;
  if (NO_SEGMENT.test(lines.join('\n'))) return NO_SHARED_MEMORY;
  if (lines.some((line) => NO_SPACE.test(line))) return DISK_FULL;
  const end = lines.findLastIndex((line) => /^(FATAL|PANIC|ERROR):/.test(line));
  if (end < 0) return undefined;
  const last = lines[end] ?? '';
  const isFile = last.includes('configuration file') && last.includes('contains errors');
  const before = isFile ? lines.slice(0, end).filter((line) => /^(LOG|DETAIL|HINT):/.test(line)) : [];
  const after = lines.slice(end + 1).filter((line) => /^(DETAIL|HINT):/.test(line));
  const chosen = before.length > 0 ? before : [last, ...after];
  return chosen.map((line) => line.replace(/^[A-Z]+: {2}/, '').replace(POSITION, '')).join(' ');
}

/** Returns what the postmaster says of the process whose crash ends the server. Its details quote statements, so they stay in the log. */
export function findCrash(output: readonly string[]): string | undefined {
  for (const line of output.toReversed()) {
    const found = /^LOG: {2}(.* was terminated by (?:signal|exception) .*)/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}
