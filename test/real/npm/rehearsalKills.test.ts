/**
 * `npx hosted-postgres rehearse` that is killed at any moment, itself or its service, leaves no process, and the next rehearsal removes
 * its branches.
 */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PROJECT_DATA_FOLDER } from '../../../src/localService/ownFolder.ts';
import { storageOf } from '../../helpers/branchCalls.ts';
import { isFullRun } from '../../helpers/fullRun.ts';
import { accountFile, temporaryFolder } from '../../helpers/localService.ts';
import { installProgram, startProgram } from '../../helpers/npxProgram.ts';
import { randomNumbers } from '../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../helpers/seed.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';

const KILLS = isFullRun ? 50 : 4;
const PG = JSON.stringify(path.join(projectRoot, 'node_modules/pg/lib/index.js'));
/** Makes a table again, so that a second branch is made to count its rows. */
const MIGRATION = `"${process.execPath}" -e '
  const client = new (require(${PG}).Client)(process.env.DATABASE_URL);
  client.connect().then(() => client.query("drop table if exists users; create table users as select 1")).then(() => client.end());'`;

/** How long others wait depends on the machine. */
const REHEARSE = ['rehearse', '--longest-lock', '60000', '--run', MIGRATION];

const NOTHING = `"${process.execPath}" --version`;

describe('npx hosted-postgres rehearse that is killed', function () {
  const random = randomNumbers();
  let [file, folder, temporary] = ['', '', ''];

  const start = (...args: string[]) => startProgram([process.execPath, file, ...args], folder, temporary);
  const storage = () => storageOf({ dataDir: path.join(folder, PROJECT_DATA_FOLDER) });
  /** Programs that run in the storage, or were started with it, and their arguments. */
  const processes = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
          const places = [readlinkSync(`/proc/${pid}/cwd`), ...args];
          const isOwn = places.some((each) => each.startsWith(storage()) || each.startsWith(folder));
          return isOwn ? [{ pid: Number(pid), args }] : [];
        } catch {
          return []; // It has just ended.
        }
      });

  /** @returns whether there was one */
  function killService(): boolean {
    const service = processes().find(({ args }) => args.some((each) => path.basename(each) === 'service.js'));
    try {
      return service !== undefined && process.kill(service.pid, 'SIGKILL');
    } catch {
      return false; // It has just ended.
    }
  }

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    file = await installProgram();
    [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    chmodSync(temporary, 0o1777);
    const made = start('--run', MIGRATION);
    assert.equal(await made.ended, 0, made.output());
  });

  it(`leaves nothing (seed ${RANDOM_SEED})`, async () => {
    const before = readdirSync(path.join(storage(), 'branches'));
    const startedAt = performance.now();
    const whole = start(...REHEARSE);
    assert.equal(await whole.ended, 0, whole.output());
    const duration = performance.now() - startedAt;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const program = start(...REHEARSE);
      await setTimeout(random() * duration);
      const isServiceKilled = random() < 0.5 && killService();
      if (!isServiceKilled) program.kill('SIGKILL');
      await program.ended;
      // Its servers end when the next one starts.
      if (isServiceKilled) assert.equal(await start('--run', NOTHING).ended, 0);
      await until('no process', async () => processes().length === 0);
    }
    const last = start(...REHEARSE);
    assert.equal(await last.ended, 0, last.output());
    const account = readFileSync(accountFile(path.join(folder, PROJECT_DATA_FOLDER)), 'utf8');
    assert.doesNotMatch(account, /"name":\s*"rehearsal-/);
    assert.deepEqual(readdirSync(path.join(storage(), 'branches')), before);
  });
});
