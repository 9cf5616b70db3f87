/** The package for linux-x64 on a machine without Postgres and without network, in a real VS Code. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launchBrowser } from '../workbench/chromium.ts';
import { installWebWorkbench } from '../workbench/install.ts';
import { builtPackage } from './builtPackage.ts';
import { lockedVersion } from './fetchPostgres.ts';
import { runIsolated, whyNotIsolated } from './isolation.ts';
import { targets } from './targets.ts';
import type { Tried } from './tryInstalled.ts';

/** From the click to the answer, compared with initdb, start and query. */
const GOAL = 3;

/** Next to other work, VS Code with its many processes is slowed down more than a single one, so times can't be compared. */
const isIdle = (os.loadavg()[0] ?? 0) < 1;

const reason = whyNotIsolated();
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

describe(`the package for linux-x64 without network and Postgres${why}`, function () {
  this.timeout(180_000);
  let folder: string;
  let vsix: string;

  before(async function () {
    if (why !== '') return this.skip();
    // What would be downloaded or unpacked at the first use is in place before there is no network.
    await installWebWorkbench();
    await (await launchBrowser()).close();
    folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-installed-'));
    vsix = path.join(folder, 'hosted-postgres.vsix');
    cpSync(await builtPackage('linux-x64'), vsix);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const tryInstalled = (home: string, user: string): Tried => {
    const systemFolder = path.join(folder, `system-${path.basename(home)}`);
    for (const each of [home, systemFolder]) mkdirSync(each);
    const program = path.join(import.meta.dirname, 'tryInstalled.ts');
    const quiet = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';
    const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home, TZ: 'UTC' };
    const output = runIsolated([process.execPath, quiet, program, vsix], { systemFolder, user, env });
    return JSON.parse(output.trim().split('\n').at(-1) ?? '');
  };

  const check = async ({ networks, rows, programs, click, manual }: Tried, isOwn: RegExp): Promise<void> => {
    const ratio = click / manual;
    console.log(
      `      ${Math.round(click)} ms from the click to the answer, ${Math.round(manual)} ms manually: ${ratio.toFixed(2)} ×`,
    );
    assert.deepEqual(networks, ['lo']);
    assert.deepEqual(rows, [{ one: 1, version: await lockedVersion(targets['linux-x64']) }]);
    assert.equal(programs.length, 1);
    assert.match(programs.join(), isOwn);
    if (isIdle) assert.ok(ratio <= GOAL, `${ratio.toFixed(2)} ×, the goal is ${GOAL} ×`);
  };

  it('answers a query after one click, for an ordinary user', async () => {
    const home = path.join(folder, 'user');
    await check(tryInstalled(home, home), /\/extensions\/hosted-postgres\.[^/]+\/postgres\/bin\/postgres$/);
  });

  it('answers a query after one click, for root with a closed home folder', async () => {
    const home = path.join(folder, 'root');
    await check(tryInstalled(home, ''), /^\/var\/lib\/hosted-postgres\/programs-\w+\/bin\/postgres$/);
  });
});
