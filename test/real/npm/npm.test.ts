/**
 * `npx hosted-postgres`, built and laid out as npm installs it.
 * Timers: npm/endWithNpm.ts.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { canSignal } from '../../../src/base/programs/isAlive.ts';
import { HELP } from '../../../src/npm/options.ts';
import { SERVICE_HELP, SHARED_OPTIONS } from '../../../src/service/options.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { installProgram, startProgram, type Started } from '../../helpers/npxProgram.ts';
import { TEST_LIMIT } from '../../limits.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';

/** A command that runs until the program that started it is gone. */
const UNTIL_KILLED = 'echo READY; while kill -0 $PPID; do sleep 0.1; done';
/** Only what is deleted at the end may be lost at a power failure. */
const FSYNC = '(select setting from pg_settings where name = $$fsync$$) as fsync';
const PG = JSON.stringify(path.join(projectRoot, 'node_modules/pg/lib/index.js'));

/** A command that runs SQL on DATABASE_URL and prints the rows. */
const sql = (text: string): string =>
  `"${process.execPath}" -e '${[
    `const { Client } = require(${PG});`,
    'const c = new Client(process.env.DATABASE_URL);',
    `c.connect().then(() => c.query(${JSON.stringify(text)})).then((r) => { console.log(JSON.stringify(r.rows)); return c.end(); });`,
  ].join(' ')}'`;

/** Of a process of Linux. */
const parentOf = (pid: number): number =>
  Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);

describe('npx hosted-postgres', () => {
  let file = '';
  let folder = '';
  let temporary = '';

  before(async () => (file = await installProgram()));

  beforeEach(() => {
    [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    chmodSync(temporary, 0o1777);
  });

  const start = (...args: string[]): Started =>
    startProgram([process.execPath, file, ...args], folder, temporary);
  const pidIn = (pattern: string): number | undefined => {
    const [found] = globSync(pattern, { cwd: temporary });
    const pid = found && /\d+/.exec(readFileSync(path.join(temporary, found), 'utf8'))?.[0];
    return pid ? Number(pid) : undefined;
  };
  const servicePid = () => pidIn('hosted-postgres-temporary-*/service.lock');
  const serverPid = () => pidIn('hosted-postgres-temporary-*/postgres/branches/*/data/postmaster.pid');
  const leftovers = () =>
    readdirSync(temporary).filter((name) => name.startsWith('hosted-postgres-temporary-'));
  const isReady = (program: Started) =>
    until('READY', async () => program.output().includes('READY'), TEST_LIMIT);

  it('gives the command a database and what public tools read, and exits with its code', async () => {
    const program = start(
      '--temporary',
      '--run',
      `${sql(`select 6 * 7 as answer, ${FSYNC}`)} && env && exit 7`,
    );
    assert.equal(await program.ended, 7, program.output());
    assert.match(program.output(), /\[{"answer":42,"fsync":"off"}\]/);
    for (const line of [
      /^NEON_API_HOST=http:\/\/127\.0\.0\.1:\d+\/api\/v2$/m,
      /^NEON_API_KEY=[0-9a-f]{48}$/m,
      /^NEON_PROJECT_ID=local-project$/m,
      /^NEON_BRANCH_ID=br-local-main$/m,
      /^DATABASE_URL=postgresql:\/\/.+@127\.0\.0\.1:\d+\//m,
    ])
      assert.match(program.output(), line);
    assert.doesNotMatch(program.output(), /another\.invalid|^PG(?:OPTIONS|SERVICE|SSLMODE)/m);
    assert.deepEqual(leftovers(), []);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('passes NODE_OPTIONS on to the command, and not to the service', async () => {
    const loaded = path.join(folder, 'loaded');
    const script = path.join(folder, 'note.cjs');
    const note = `require('node:fs').appendFileSync(${JSON.stringify(loaded)}, process.argv[1] + '\\n')`;
    writeFileSync(script, note);
    writeFileSync(path.join(folder, 'command.cjs'), '');
    const under = ['env', `NODE_OPTIONS=--require ${script}`, process.execPath, file];
    const args = ['--temporary', '--no-postgres', '--run', `"${process.execPath}" command.cjs`];
    const program = startProgram([...under, ...args], folder, temporary);
    assert.equal(await program.ended, 0, program.output());
    const programs = readFileSync(loaded, 'utf8').trim().split('\n');
    assert.deepEqual(
      programs.map((each) => path.basename(each)),
      ['main.js', 'command.cjs'],
    );
  });

  it('says which variables it has replaced because they may lead to a database', async () => {
    const args = ['--temporary', '--no-postgres', '--run', 'echo "Host: $SHOP_HOST."'];
    const program = startProgram([process.execPath, file, ...args], folder, temporary, {
      SHOP_HOST: 'production.invalid',
      SHOP_USER: 'me',
    });
    assert.equal(await program.ended, 0, program.output());
    assert.match(program.output(), /^These variables .*: SHOP_HOST, SHOP_USER\. If they belong to other/m);
    assert.match(program.output(), /^Host: \.$/m);
  });

  it('gives the command no database if computes are simulated', async () => {
    const program = start('--temporary', '--no-postgres', '--api-key', '', '--run', 'env');
    assert.equal(await program.ended, 0, program.output());
    assert.match(program.output(), /^NEON_BRANCH_ID=br-local-main$/m);
    assert.match(program.output(), /^NEON_API_KEY=[0-9a-f]{48}$/m, 'an empty key does not count');
    assert.doesNotMatch(program.output(), /^DATABASE_URL=/m);
  });

  it('keeps data and key in .hosted-postgres, which Git ignores', async () => {
    const first = start('--run', sql('create table kept as select 5 as n'));
    assert.equal(await first.ended, 0, first.output());
    const key = readFileSync(path.join(folder, '.hosted-postgres/api-key'), 'utf8');
    const second = start('--run', `${sql(`select n, ${FSYNC} from kept`)} && echo "key $NEON_API_KEY"`);
    assert.equal(await second.ended, 0, second.output());
    assert.match(second.output(), /\[{"n":5,"fsync":"on"}\]/);
    assert.ok(second.output().includes(`key ${key}`));
    assert.doesNotMatch(second.output(), /Ignored/);
    assert.equal(readFileSync(path.join(folder, '.hosted-postgres/.gitignore'), 'utf8'), '*\n');
  });

  it('prints address and key without a command, and refuses a second service on the folder', async () => {
    const first = start('--port', '0', '--no-postgres');
    const [, baseUrl, key] = await until(
      'the key',
      async () => /Base URL: (\S+)\nAPI key: (\S+)\n/.exec(first.output()) ?? undefined,
      TEST_LIMIT,
    );
    const response = await fetch(`${baseUrl}/projects`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(response.status, 200);
    const second = start('--port', '0', '--no-postgres');
    assert.equal(await second.ended, 3, second.output());
    assert.match(second.output(), /A service is already running on .*\.hosted-postgres, at http/);
    first.kill('SIGTERM');
    assert.equal(await first.ended, 0);
    await assert.rejects(fetch(`${baseUrl}/projects`));
  });

  it('passes a signal on to the command and ends the service', async () => {
    const program = start(
      '--temporary',
      '--run',
      'trap "exit 9" TERM; echo READY; while :; do sleep 0.1; done',
    );
    await isReady(program);
    program.kill('SIGTERM');
    assert.equal(await program.ended, 9, program.output());
    assert.deepEqual(leftovers(), []);
  });

  it('reports mistakes in the command line', async () => {
    for (const [args, problem] of [
      [['--nonsense'], /Unknown option '--nonsense'/],
      [['--temporary', '--data-dir', 'x'], /exclude each other/],
      [['--temporary', '--plan', 'x'], /--plan must be free or paid/],
      // The last of several is passed on to the service too.
      [
        ['--temporary', '--allow-origin', 'http://localhost', '--allow-origin', 'x'],
        /--allow-origin must be/,
      ],
    ] as const) {
      const program = start(...args);
      assert.equal(await program.ended, 2);
      await until('the message', async () => problem.test(program.output()));
    }
    assert.equal(existsSync(path.join(folder, 'x')), false);
  });

  it('names all options in its help, as the service does', () => {
    const shared = Object.keys(SHARED_OPTIONS);
    for (const [help, more] of [
      [HELP, ['run', 'temporary']],
      [SERVICE_HELP, ['api-key-stdin', 'check-postgres', 'end-with-leases', 'installed-extensions']],
    ] as const) {
      const names = [...help.matchAll(/^ {2}--(\S+)/gm)].map(([, name = '']) => name);
      assert.deepEqual(names.toSorted(), [...shared, ...more].toSorted());
    }
  });

  it('ends with npx, which ends only its shell', async function () {
    if (process.platform === 'win32') this.skip();
    const project = path.resolve(file, '../../../..');
    const command = 'echo READY $PPID $$; while :; do sleep 0.1; done';
    const npx = ['npx', '--offline', 'hosted-postgres', '--temporary', '--run', command];
    const program = startProgram(npx, project, temporary);
    await isReady(program);
    const pids = (/READY (\d+) (\d+)/.exec(program.output()) ?? []).slice(1).map(Number);
    const all = [...pids, servicePid() ?? 0, serverPid() ?? 0];
    assert.deepEqual(all.map(canSignal), [true, true, true, true]);
    program.kill('SIGTERM');
    await until('the end of all', async () => !all.some(canSignal));
    assert.deepEqual(leftovers(), []);
  });

  it('leaves no service when it is killed', async () => {
    const program = start('--temporary', '--run', UNTIL_KILLED);
    await isReady(program);
    const [service, server] = [servicePid() ?? 0, serverPid() ?? 0];
    assert.ok(canSignal(service) && server > 0);
    program.kill('SIGKILL');
    await until('the end of both', async () => !canSignal(service) && !canSignal(server), TEST_LIMIT);
    await until('an empty folder', async () => leftovers().length === 0, TEST_LIMIT);
  });

  // The pids of the command's shell, of a child, and of one whose parent has ended.
  const FAMILY = '(sleep 600 & echo $! >orphan); sleep 600 & echo READY $$ $! $(cat orphan); wait';
  const NPX = ['npx', '--offline', 'hosted-postgres', '--temporary', '--run', FAMILY];
  const familyOf = async (program: Started) => {
    await isReady(program);
    const pids = (/READY (\d+) (\d+) (\d+)/.exec(program.output()) ?? []).slice(1).map(Number);
    assert.deepEqual(pids.map(canSignal), [true, true, true], program.output());
    return pids;
  };
  const end = async (pids: readonly number[]) => until('the end of all', async () => !pids.some(canSignal));

  it('ends its command when it is killed', async function () {
    if (process.platform === 'win32') this.skip();
    const program = start('--temporary', '--run', FAMILY);
    const pids = await familyOf(program);
    program.kill('SIGKILL');
    await end(pids);
  });

  it('ends its command when timeout kills npx with its process group', async function () {
    if (process.platform !== 'linux') this.skip();
    const project = path.resolve(file, '../../../..');
    const program = startProgram(['timeout', '--signal', 'KILL', '600', ...NPX], project, temporary);
    const pids = await familyOf(program);
    // It does the same as at its limit.
    process.kill(program.pid, 'SIGALRM');
    await end(pids);
  });

  it('ends the command with what descends from it, and nothing else, when it is killed in a terminal', async function () {
    if (process.platform !== 'linux') this.skip();
    const own = [process.execPath, file, '--temporary', '--run', `'${FAMILY}'`].join(' ');
    // Started by a script, which is in the same process group.
    const inTerminal = ['script', '--quiet', '--command', `${own}; echo SURVIVED; cat`, '/dev/null'];
    const program = startProgram(inTerminal, folder, temporary);
    const [shell = 0, child = 0, orphan = 0] = await familyOf(program);
    process.kill(parentOf(shell), 'SIGKILL');
    await end([shell, child]);
    await until('the script to go on', async () => program.output().includes('SURVIVED'));
    assert.ok(canSignal(orphan));
    program.kill('SIGTERM');
    await program.ended;
  });

  it('lets live what the command has left running', async function () {
    if (process.platform === 'win32') this.skip();
    const program = start('--temporary', '--run', '(sleep 600 & echo LEFT $!) >&2; exit 3');
    await until('the pid', async () => program.output().includes('LEFT'), TEST_LIMIT);
    const left = Number(/LEFT (\d+)/.exec(program.output())?.[1]);
    await until('the end of the service', async () => leftovers().length === 0, TEST_LIMIT);
    assert.ok(canSignal(left));
    process.kill(left, 'SIGKILL');
    assert.equal(await program.ended, 3);
  });

  it('removes what a killed service left behind at the next start', async () => {
    const program = start('--temporary', '--run', UNTIL_KILLED);
    await isReady(program);
    const [service, server, [abandoned = '']] = [servicePid() ?? 0, serverPid() ?? 0, leftovers()];
    // So that it can't notice the program's end, and begin to stop.
    process.kill(service, 'SIGSTOP');
    program.kill('SIGKILL');
    process.kill(service, 'SIGKILL');
    await until('the end of the service', async () => !canSignal(service), TEST_LIMIT);
    assert.ok(canSignal(server) && existsSync(path.join(temporary, abandoned)));
    const next = start(
      '--temporary',
      '--run',
      `while [ -e "${path.join(temporary, abandoned)}" ]; do sleep 0.1; done`,
    );
    assert.equal(await next.ended, 0, next.output());
    await until('the end of Postgres', async () => !canSignal(server), TEST_LIMIT);
    assert.deepEqual(leftovers(), []);
  });
});
