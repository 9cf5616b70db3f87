/** Starts the service as a process that ends by itself when this program is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { BaseUrl } from '../api/transport/baseUrl.ts';
import { END_SERVICE_LINE } from './leaseProof.ts';
import { serviceEnvironment } from './serviceEnvironment.ts';

/** A service that this program has started. */
export interface StartedService {
  readonly baseUrl: BaseUrl;
  /** Resolves with the exit code when the service has ended, for any reason. */
  readonly ended: Promise<number>;
  /** Ends the service cleanly. Signals to this program do the same. */
  stop(): Promise<number>;
  /** Leaves signals to this program to others until the service is stopped. */
  leaveSignals(): void;
}

/**
 * The service has its own process group, so that Ctrl-C in a terminal first ends the command that uses it. The pipe to its
 * standard input is the lease of this program: the system closes it even if this program is killed.
 * @param program the service's file
 * @returns the exit code if it doesn't start; it has then said why
 */
export async function startAttachedService(
  program: string,
  args: readonly string[],
  key: string,
): Promise<StartedService | number> {
  const child = spawn(process.execPath, [program, ...args, '--end-with-leases', '0'], {
    env: { ...serviceEnvironment(), HOSTED_POSTGRES_SERVICE_API_KEY: key },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  });
  // The service gets a pipe, because it would empty a standard error that is a long file, such as one of the user's.
  child.stderr.pipe(process.stderr);
  const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 1));
  child.stdin.on('error', () => undefined); // The service has just ended.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const leaveSignals = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const takeSignals = () => {
    leaveSignals();
    for (const signal of signals) process.on(signal, onSignal);
  };
  const stop = () => {
    takeSignals();
    // On Windows, a signal would end the service at once, and leave its files and the processes of Postgres.
    if (process.platform === 'win32') child.stdin.end(`${END_SERVICE_LINE}\n`);
    else child.kill('SIGTERM');
    return ended;
  };
  const onSignal = () => void stop();
  takeSignals();
  void ended.then(leaveSignals);
  const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  if (typeof line === 'number') return line;
  const { baseUrl }: { baseUrl: BaseUrl } = JSON.parse(String(line[0]));
  return { baseUrl, ended, stop, leaveSignals };
}
