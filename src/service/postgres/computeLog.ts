/**
 * What is logged about a compute: its last lines, for users who look for the reason of a failure, and the service's own log,
 * which has no routine messages. The lines are only in memory, because they may contain data.
 */
import { skipRoutineLines } from './server/serverLog.ts';

/** The most characters of the log that are kept. */
const MAX_LENGTH = 200_000;

/** Keeps the last lines that the servers of a compute have logged. */
export class ComputeLog {
  readonly #print: (line: string) => void;
  readonly #lines: string[] = [];
  #length = 0;

  /** @param print writes a line to the service's log */
  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Adds what the service itself says. */
  note(line: string): void {
    this.keep(line);
    this.#print(line);
  }

  /** Returns the listener for the lines of a server. */
  listener(): (line: string) => void {
    const printUnlessRoutine = skipRoutineLines(this.#print);
    return (line) => {
      this.keep(line);
      printUnlessRoutine(line);
    };
  }

  /** Adds a line, but doesn't write it to the service's log. */
  keep(text: string): void {
    // Postgres writes no time, and a tab before a line that continues the one before.
    const line = text.startsWith('\t') ? text : `${new Date().toISOString()} ${text}`;
    this.#lines.push(line);
    this.#length += line.length;
    while (this.#length > MAX_LENGTH) this.#length -= this.#lines.shift()?.length ?? this.#length;
  }
}
