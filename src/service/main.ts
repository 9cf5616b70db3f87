/** The local service as a program: reads its options, starts, says where it answers, and ends cleanly when asked to. */
import { createInterface } from 'node:readline';
import { systemClock } from './core/clock.ts';
import type { ComputeEngine } from './core/computeEngine.ts';
import { openDataDirectory } from './state/dataDirectory.ts';
import { loadEngine } from './loadEngine.ts';
import { lockInstance } from './state/instanceLock.ts';
import { HELP, readOptions, requireKey, type ServiceOptions } from './options.ts';
import { startService } from './service.ts';
import { EXIT_CODES, StartFailure, systemReason } from './core/startFailure.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env);
  // Whatever the service starts has no business with the key.
  delete process.env['HOSTED_POSTGRES_SERVICE_API_KEY'];
  if (options === undefined) process.stdout.write(HELP);
  else await run(options, options.apiKeyFromStdin ? await keyFromStdin() : options.apiKey);
}

async function run(options: ServiceOptions, apiKey: string | undefined): Promise<void> {
  const directory = openDataDirectory(options.dataDir);
  const { folder } = directory;
  const ending = endings();
  let engine: Promise<ComputeEngine> | undefined;
  try {
    const lock = await lockInstance(folder);
    try {
      const { postgres, postgresPath } = options;
      const isTemporary = options.dataDir === undefined;
      engine = loadEngine({ postgres, postgresPath, dataDir: folder, isTemporary, log });
      const parts = {
        options: { ...options, apiKey },
        folder,
        engine,
        clock: systemClock,
        log,
        onEnd: ending.end,
      };
      const service = await startService(parts);
      lock.publish(service.baseUrl, service.leaseSecret);
      process.stdout.write(`${JSON.stringify({ baseUrl: service.baseUrl, pid: process.pid })}\n`);
      const failure = await ending.reason;
      const unclean = await service.close().then(
        () => undefined,
        (error: unknown) => `Could not end cleanly: ${systemReason(error)}`,
      );
      const problem = failure ?? unclean;
      if (problem !== undefined) throw new StartFailure('dataDirectory', problem);
    } finally {
      // A failed start may have left it open.
      await engine?.then((loaded) => loaded.close()).catch(() => undefined);
      lock.release();
    }
  } finally {
    directory.dispose();
  }
}

/** What ends the service: a signal, or the service itself. */
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
  throw new StartFailure('usage', '--api-key-stdin: standard input ended without a key');
}

// Whoever read our output may be gone; that must not end us, nor be told to them for ever.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('unhandledRejection', (error) =>
  log(`Unexpected: ${error instanceof Error ? error.stack : String(error)}`),
);
process.on('uncaughtException', (error) => log(`Unexpected: ${error.stack ?? error.message}`));

main()
  .catch((error: unknown) => {
    const isForeseen = error instanceof StartFailure;
    log(isForeseen ? error.message : `Cannot start: ${systemReason(error)}`);
    process.exitCode = EXIT_CODES[isForeseen ? error.reason : 'unexpected'];
  })
  .finally(() => process.exit());
