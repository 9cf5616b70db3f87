// Installs a package in a new VS Code and uses it like a new user: from "Try it with the local service" to a query. Prints
// what it found as JSON, with the time of the same done manually with the Postgres of the package. Run by installedPackage.ts.
//   node scripts/package/tryInstalled.ts VSIX [MILLISECONDS]
// The pause before the click is for measurements: VS Code starts everything else in that time.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { findNobody } from '../../src/service/privileges/unixAccount.ts';
import { Editor } from '../../test/workbench/editor.ts';
import { cacheFolder } from '../../test/workbench/folders.ts';
import { openWorkbench, type OpenWorkbench } from '../../test/workbench/open.ts';
import { processTree } from '../../test/workbench/processes.ts';
import { findOwnService } from '../../test/host/ui/ownService.ts';

export interface Tried {
  readonly networks: readonly string[];
  readonly rows: readonly unknown[];
  /** The programs that ran as Postgres. */
  readonly programs: readonly string[];
  /** What pg_dump says about itself. */
  readonly pgDump: string | undefined;
  /** Milliseconds from the click to the answer. */
  readonly click: number;
  /** Milliseconds of initdb, start and query. */
  readonly manual: number;
}

/** The programs that root's service copies for the account that it becomes, and the folders above. */
const COPIED =
  '/ /var /var/lib /var/lib/hosted-postgres /var/lib/hosted-postgres/* /var/lib/hosted-postgres/*/bin /var/lib/hosted-postgres/*/bin/*';

const COMPUTE = /^Compute .*ep-little-smoke-851426$/;

const [, , vsix = '', pause = '0'] = process.argv;
const opened = await openWorkbench({ extension: vsix });
try {
  await opened.openView('Hosted Postgres');
  await opened.welcomeText('Computes');
  await delay(Number(pause));
  const startedAt = performance.now();
  const rows = await clickAndQuery(opened);
  const click = performance.now() - startedAt;
  await opened.computes.waitFor(/^Compute primary, active, .*ep-little-smoke-851426$/);
  const programs = await postgresPrograms(opened);
  const result: Tried = {
    networks: Object.keys(os.networkInterfaces()),
    rows,
    programs,
    pgDump: await dumpSchema(opened),
    click,
    manual: await queryManually(path.dirname(programs[0] ?? '')),
  };
  console.log(JSON.stringify(result));
} catch (error) {
  await opened.screenshot(path.join(cacheFolder, '..', 'failures', `installed-${os.userInfo().uid}.png`));
  // Seen rarely, on a busy machine: the copied programs "can't run" (EACCES), although they run the next time.
  console.error(execFileSync('sh', ['-c', `ls -ldn ${COPIED} 2>&1 || true`], { encoding: 'utf8' }));
  throw error;
} finally {
  // Files are kept for `InstalledPackage.remove`: for a while after many were removed, ext4 creates files slowly, and the
  // next try would be measured with that.
  await opened.stop();
}

async function clickAndQuery(workbench: OpenWorkbench): Promise<unknown[]> {
  const { computes } = workbench;
  await workbench.clickWelcome('Computes', 'Try it with the local service');
  await computes.waitForFirstProject();
  await computes.expandProject('shop');
  await computes.contextMenu(COMPUTE, 'Copy Connection String…');
  return query(await workbench.waitForClipboard(/^postgresql:\/\//));
}

/** With the pg_dump of the package. */
async function dumpSchema(workbench: OpenWorkbench): Promise<string | undefined> {
  await workbench.computes.contextMenu(/^Branch main,/, 'Data and History', 'Open Schema');
  const editor = new Editor(workbench.page);
  await editor.waitForText('PostgreSQL database dump');
  return /^-- (Dumped by pg_dump version \d+)/m.exec(await editor.text())?.[1];
}

async function query(connectionString: string): Promise<unknown[]> {
  const connection = new pg.Client({ connectionString });
  await connection.connect();
  const { rows } = await connection.query("select 1 as one, current_setting('server_version') as version");
  await connection.end();
  return rows;
}

async function postgresPrograms({ dataFolder }: OpenWorkbench): Promise<string[]> {
  const { pid } = await findOwnService(dataFolder);
  const programs = await Promise.all((await processTree([pid])).map(programOf));
  return [...new Set(programs)].filter((program) => path.basename(program) === 'postgres');
}

/** @returns an empty string if the process has ended */
function programOf(pid: number): Promise<string> {
  return readlink(`/proc/${pid}/exe`).catch(() => '');
}

/** As a person would with these programs: create a data directory, start the server, connect. */
async function queryManually(programs: string): Promise<number> {
  const account = process.getuid?.() === 0 ? findNobody() : undefined;
  // Next to the home folder, which is closed to the account of root's Postgres.
  const data = mkdtempSync(path.join(path.dirname(os.homedir()), 'manual-'));
  if (account !== undefined) execFileSync('chown', [`${account.uid}:${account.gid}`, data]);
  const run = (program: string, ...args: string[]) =>
    execFileSync(path.join(programs, program), args, {
      ...account,
      cwd: data,
      stdio: 'ignore',
      env: { LC_ALL: 'C' },
    });
  const startedAt = performance.now();
  run('initdb', '-D', data, '-U', 'postgres', '--auth=trust');
  run('pg_ctl', '-D', data, '-w', '-l', path.join(data, 'log'), '-o', `-k ${data}`, 'start');
  try {
    await query('postgresql://postgres@127.0.0.1/postgres');
    return performance.now() - startedAt;
  } finally {
    run('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
  }
}
