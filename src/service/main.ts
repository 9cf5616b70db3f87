/** The local service as a program: reads its options, starts, prints its address, and ends cleanly on a signal. */
import { fstatSync, ftruncateSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { postgresLine } from '../api/leaseProof.ts';
import { serviceClock } from './core/clock.ts';
import type { ComputeEngine } from './core/computeEngine.ts';
import { systemReason } from './core/systemReason.ts';
import { loadEngine } from './loadEngine.ts';
import { HELP, readOptions, requireKey, type ServiceOptions } from './options.ts';
import { describeFailure, StartError } from './startError.ts';
import { lockInstance, openDataDirectory } from './state/dataDirectory.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Bytes. */
const MAX_LOG_FILE = 10 * 1024 * 1024;

/** For the file that the extension keeps. Postgres may log each statement, so a full file starts again. */
function logToFile(line: string): void {
  if (fstatSync(process.stderr.fd).size > MAX_LOG_FILE) ftruncateSync(process.stderr.fd);
  log(line);
}

/** With `--no-postgres`. */
const SIMULATED =
  'Computes are simulated (--no-postgres): they change state, but nothing runs and they accept no connections.';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  // Processes that the service starts must not see the key.
  delete process.env['HOSTED_POSTGRES_SERVICE_API_KEY'];
  if (options === undefined) process.stdout.write(HELP);
  else if (options.checkPostgres) await checkPostgres(options);
  else await run(options, options.apiKeyFromStdin ? await keyFromStdin() : options.apiKey);
}

async function run(options: ServiceOptions, apiKey: string | undefined): Promise<void> {
  const writeLog = options.endWithLeases === undefined ? log : logToFile;
  const directory = openDataDirectory(options.dataDir);
  const { folder } = directory;
  const ending = endings();
  let engine: Promise<ComputeEngine> | undefined;
  try {
    const lock = await lockInstance(folder);
    try {
      const { postgres, postgresPath } = options;
      const isTemporary = options.dataDir === undefined;
      const choice = { postgres, postgresPath, dataDir: folder, isTemporary, log: writeLog };
      const startEngine = await loadEngine(choice);
      engine = startEngine();
      engine.catch(() => undefined); // Its callers report the failure.
      // Loaded only now, because the engine's process starts at the same time.
      const { startService } = await import('./startService.ts');
      const parts = {
        options: { ...options, apiKey },
        folder,
        engine,
        clock: serviceClock,
        log: writeLog,
        onEnd: ending.end,
      };
      const service = await startService(parts);
      lock.publish(service.baseUrl, service.leaseSecret);
      if (!postgres) writeLog(SIMULATED);
      const simulated = postgres ? {} : { computes: 'simulated' };
      process.stdout.write(
        `${JSON.stringify({ baseUrl: service.baseUrl, pid: process.pid, ...simulated })}\n`,
      );
      const failure = await ending.reason;
      const unclean = await service.close().then(
        () => undefined,
        (error: unknown) => `Failed to end cleanly: ${systemReason(error)}`,
      );
      const problem = failure ?? unclean;
      if (problem !== undefined) throw new StartError('notUsable', problem);
    } finally {
      // A failed start may have left it open.
      await engine?.then((loaded) => loaded.close()).catch(() => undefined);
      lock.release();
    }
  } finally {
    directory.dispose();
  }
}

/** Loads the engine as a start does, without data. */
async function checkPostgres({ postgresPath }: ServiceOptions): Promise<void> {
  const directory = openDataDirectory(undefined);
  try {
    const choice = { postgres: true, postgresPath, dataDir: directory.folder, isTemporary: true, log };
    const startEngine = await loadEngine(choice);
    const engine = await startEngine();
    process.stdout.write(`${postgresLine(engine.postgresProblem)}\n`);
    await engine.close();
  } finally {
    directory.dispose();
  }
}

/** Resolves `reason` on a signal or when `end` is called. */
function endings(): { end: (failure: string | undefined) => void; reason: Promise<string | undefined> } {
  let end: (failure: string | undefined) => void = () => undefined;
  const reason = new Promise<string | undefined>((resolve) => {
    end = resolve;
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(undefined));
  return { end, reason };
}

async function keyFromStdin(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    process.stdin.destroy();
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
    const { message, exitCode } = describeFailure(error);
    log(message);
    process.exitCode = exitCode;
  })
  .finally(() => process.exit());
