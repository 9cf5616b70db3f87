/** The local service as a program: reads its options, starts, prints its address, and ends cleanly on a signal. */
import { fstatSync, ftruncateSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { fieldsOf } from '../base/fieldsOf.ts';
import { END_SERVICE_LINE, formatPostgresLine } from '../localService/leaseProof.ts';
import { EngineError } from './core/computeEngine.ts';
import { serviceClock } from './core/serviceClock.ts';
import { systemReason } from '../base/systemReason.ts';
import { unusableStartError, StartError } from './core/serviceErrors.ts';
import { loadEngine } from './loadEngine.ts';
import { SERVICE_HELP, readOptions, requireKey, type ServiceOptions } from './options.ts';
import { dropInheritedEnvironment, findNobody, type UnixAccount } from './privileges/unixAccount.ts';
import { openDataDirectory } from './state/dataDirectory.ts';
import { lockInstance } from './state/instanceLock.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** The largest log file in bytes. */
const MAX_LOG_FILE = 10 * 1024 * 1024;

/** Writes the log file of the extension. Postgres may log each statement, so the file is emptied when it is full. */
function logToFile(line: string): void {
  if (fstatSync(process.stderr.fd).size > MAX_LOG_FILE) ftruncateSync(process.stderr.fd);
  log(line);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const SIMULATED =
  'Computes are simulated (--no-postgres): they change state, but nothing runs and they accept no connections.';

async function main(): Promise<void> {
  const account = process.getuid?.() === 0 ? findNobody() : undefined;
  if (account !== undefined) dropInheritedEnvironment(account);
  const options = readOptions(process.argv.slice(2), process.env);
  // Processes that the service starts must not see the key.
  delete process.env['HOSTED_POSTGRES_SERVICE_API_KEY'];
  if (options === undefined) process.stdout.write(SERVICE_HELP);
  else if (options.checkPostgres) await checkPostgres(options, account);
  else
    await runService(options, account, options.apiKeyFromStdin ? await readKeyFromStdin() : options.apiKey);
}

/** Resolves when the service has ended. */
async function runService(
  options: ServiceOptions,
  account: UnixAccount | undefined,
  apiKey: string | undefined,
): Promise<void> {
  const { postgres, projectsFile } = options;
  // A service that root has started may be unable to read its package once it runs as `nobody`.
  const version = ownVersion();
  const writeLog = options.endWithLeases === undefined ? log : logToFile;
  /** Resolves on a signal, or with the failure that ends the service. */
  const shutdown = Promise.withResolvers<string | undefined>();
  // From now on, no signal ends the process at once, which would leave a temporary directory.
  for (const signal of SIGNALS) process.on(signal, () => shutdown.resolve(undefined));
  const directory = openDataDirectory(options.dataDir);
  let isLockLost = false;
  const locking = lockInstance(directory.folder, {
    clock: serviceClock,
    log: writeLog,
    onLost: ({ message }) => {
      isLockLost = true;
      shutdown.resolve(message);
    },
  });
  const lock = await Promise.race([shutdown.promise, locking]);
  if (typeof lock !== 'object') {
    process.exitCode = 1; // It hasn't started.
    return;
  }
  process.prependOnceListener('exit', () => lock.release());
  void shutdown.promise.then(() => lock.noteEnding());
  const { startService } = await import('./startService.ts');
  const { readProjectsFile } = await import('./state/projectsFile.ts');
  const projects = projectsFile === undefined ? undefined : readProjectsFile(projectsFile);
  const { storage, create } = await loadEngine({ options, directory, account, log: writeLog });
  const engine = Promise.resolve().then(create);
  engine.catch(() => undefined); // Callers that need the engine report the failure.
  try {
    const service = await startService({
      options: { ...options, apiKey },
      folder: storage,
      projects,
      engine,
      clock: serviceClock,
      requireLock: () => lock.requireHeld(),
      log: writeLog,
      inputEnded:
        options.endWithLeases === undefined ? undefined : inputEnded(() => shutdown.resolve(undefined)),
      onEnd: shutdown.resolve,
    });
    lock.publish(service.baseUrl, service.leaseSecret, version);
    if (!postgres) writeLog(SIMULATED);
    printReadyLine(service.baseUrl, postgres);
    const failure = await shutdown.promise;
    if (isLockLost) (await engine).quitServers();
    await service.close().catch((error: unknown) => {
      throw unusableStartError(failure ?? `Failed to end cleanly: ${systemReason(error)}`);
    });
    if (failure !== undefined) throw unusableStartError(failure);
  } finally {
    // A failed start may have left the engine open.
    await engine.then((loaded) => loaded.close()).catch(() => undefined);
  }
}

function printReadyLine(baseUrl: string, postgres: boolean): void {
  const simulated = postgres ? {} : { computes: 'simulated' };
  process.stdout.write(`${JSON.stringify({ baseUrl, pid: process.pid, ...simulated })}\n`);
}

/** Returns the version of the package that has this program, or undefined if it runs from its sources. */
function ownVersion(): string | undefined {
  try {
    const { version } = fieldsOf(
      JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
    );
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Loads the engine as a start does, on a temporary data directory. */
async function checkPostgres(options: ServiceOptions, account: UnixAccount | undefined): Promise<void> {
  const directory = openDataDirectory(undefined);
  const choice = { options: { ...options, postgres: true }, directory, account, log };
  const { create, extensions } = await loadEngine(choice);
  const engine = create();
  process.stdout.write(`${formatPostgresLine(engine.postgresProblem, extensions())}\n`);
  await engine.close();
}

/**
 * Resolves when the program that started this one has closed its standard input, or is gone.
 * @param onEndLine called when it sends {@link END_SERVICE_LINE}
 */
async function inputEnded(onEndLine: () => void): Promise<void> {
  createInterface({ input: process.stdin }).on('line', (line) => line === END_SERVICE_LINE && onEndLine());
  await finished(process.stdin, { writable: false }).catch(() => undefined);
}

async function readKeyFromStdin(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    requireKey(line);
    return line;
  }
  throw new StartError('usage', '--api-key-stdin: standard input ended without a key');
}

// Ignore EPIPE: the reader of the output may have exited.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('unhandledRejection', (error) =>
  log(`Unexpected: ${error instanceof Error ? error.stack : String(error)}`),
);
process.on('uncaughtException', (error) => log(`Unexpected: ${error.stack ?? error.message}`));

main()
  .catch((error: unknown) => {
    // A new account needs addresses for its computes. If the engine can't provide them, its message names the file that it
    // couldn't use.
    const known =
      error instanceof EngineError
        ? unusableStartError(error.message)
        : error instanceof StartError
          ? error
          : undefined;
    log(known?.message ?? `Cannot start: ${systemReason(error)}`);
    process.exitCode = known?.exitCode ?? 1;
  })
  .finally(() => process.exit());
