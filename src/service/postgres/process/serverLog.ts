/** What a server process writes to standard error: line by line to whoever listens, and the last lines kept. */
import type { Readable } from 'node:stream';

const KEPT_LINES = 40;

/** A line longer than this is cut, so that a runaway message cannot fill the memory. */
const LONGEST_LINE = 10_000;

/** What every start and stop says; whoever reads the service's log looks for the rest. */
const ROUTINE =
  /^LOG: {2}(starting PostgreSQL|listening on|database system (was shut down|is ready|is shut down)|received (fast shutdown|SIGHUP)|aborting any active|background worker "logical replication|shutting down|parameter "|entering standby|redo starts|consistent recovery|completed backup recovery|starting backup recovery|creating missing WAL directory|started streaming)/;

export const isRoutine = (line: string): boolean => ROUTINE.test(line);

export class ServerLog {
  readonly #lines: string[] = [];
  #partial = '';

  constructor(stream: Readable, listener: (line: string) => void) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const lines = (this.#partial + text).split('\n');
      this.#partial = (lines.pop() ?? '').slice(0, LONGEST_LINE);
      for (const line of lines) this.#add(line.trimEnd(), listener);
    });
  }

  #add(line: string, listener: (line: string) => void): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    listener(line);
  }

  /** Postgres's own reason for ending, if it gave one. */
  reason(): string | undefined {
    return reasonIn(this.#lines);
  }
}

/** The place of a refused setting, in a file of the service's that the user neither wrote nor sees. */
const WRITTEN_BY_US = / in file ".*" line \d+/;

/**
 * Why a Postgres program gave up, from what it wrote: its last FATAL or ERROR with detail and hint. A setting it refuses
 * is named before that, at level LOG.
 */
export function reasonIn(lines: readonly string[]): string | undefined {
  const end = lines.findLastIndex((line) => /^(FATAL|PANIC|ERROR):/.test(line));
  if (end < 0) return undefined;
  const last = lines[end] ?? '';
  const isFile = last.includes('configuration file') && last.includes('contains errors');
  const before = isFile ? lines.slice(0, end).filter((line) => /^(LOG|DETAIL|HINT):/.test(line)) : [];
  const after = lines.slice(end + 1).filter((line) => /^(DETAIL|HINT):/.test(line));
  const chosen = before.length > 0 ? before : [last, ...after];
  return chosen.map((line) => line.replace(/^[A-Z]+: {2}/, '').replace(WRITTEN_BY_US, '')).join(' ');
}
