/** Runs a migration tool on the copy of a branch, as it is run in a terminal. */
import { once } from 'node:events';
import { findAssumedVariables, type AssumedVariables } from '../../../api/addresses/addressGroups.ts';
import { databaseVariables } from '../../../api/addresses/databaseVariables.ts';
import { signalGroup, startShellCommand } from '../../../base/programs/shellCommand.ts';

interface CommandRun {
  readonly command: string;
  readonly folder: string;
  /** A secret. */
  readonly url: string;
}

/** What receives the output of a run, and what it says about variables. */
export interface CommandOutput {
  write(this: void, text: string): void;
  /** Receives the variables that the command gets with other values although nothing says that they lead to Postgres. */
  noteAssumed(this: void, variables: AssumedVariables): void;
}

/**
 * Runs a command in a shell, with an environment that names the database of the URL and no other one.
 * @param signal kills the command. What it has left half-done is on the copy, which is deleted
 * @returns the exit code; undefined if a signal has ended the command @throws {Error} if there is no such folder
 */
export async function runMigrationCommand(
  { command, folder, url }: CommandRun,
  { write, noteAssumed }: CommandOutput,
  signal: AbortSignal,
): Promise<number | undefined> {
  // A listener isn't called if the signal was aborted before.
  if (signal.aborted) return undefined;
  const env = { ...process.env, ...databaseVariables(url) };
  const assumed = findAssumedVariables();
  if (assumed !== undefined) noteAssumed(assumed);
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const { child } = startShellCommand(command, { env, stdio, cwd: folder, ownGroup: true });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', write);
  const kill = () => signalGroup(child.pid, 'SIGKILL');
  const closed = new Promise((resolve) => child.on('close', resolve));
  signal.addEventListener('abort', kill);
  try {
    const [code]: unknown[] = await once(child, 'exit');
    // Programs that the command has left running lose their database, and would keep the output open.
    kill();
    await closed;
    return typeof code === 'number' ? code : undefined;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
