/** The service as a program: options, exit codes, its data directory, its end. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { readOptions } from '../../../src/service/options.ts';
import { builtMcp } from '../../helpers/builtMcp.ts';
import { builtService } from '../../helpers/builtService.ts';
import { call } from '../../helpers/call.ts';
import { accountFile, hasReleasedLock, SIMULATED, startLocalService } from '../../helpers/localService.ts';
import { temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { installProgram } from '../../helpers/npxProgram.ts';
import { until } from '../../workbench/until.ts';
import { didNotStart } from './didNotStart.ts';
import { listen } from '../../helpers/listen.ts';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program until it exits, or ends it when it is ready. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin?: string): Promise<Ended> {
  const child = spawn(process.execPath, [await builtService(), ...args], { env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (text.includes('baseUrl')) child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

describe('The program', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const quick = (...args: string[]) => ['--no-postgres', '--port', '0', '--data-dir', folder, ...args];
  const start = (more: Parameters<typeof startLocalService>[0] = {}): Promise<LocalService> =>
    startLocalService({ postgres: false, dataDir: folder, ...more });

  const wrong: Record<string, readonly [readonly string[], RegExp]> = {
    'an unknown option': [['--prot', '1'], /'--prot'/],
    'something that is no option': [['serve'], /'serve'/],
    'an option without its value': [['--port'], /'--port/],
    'a port that is a word': [['--port', 'http'], /--port must be a whole number/],
    'a port beyond the ports': [['--port', '70000'], /--port must be a whole number/],
    'a negative delay': [['--operation-delay=-1'], /--operation-delay must be a whole number/],
    'an unknown plan': [['--plan', 'gold'], /--plan must be free or paid/],
    'a key with a space': [['--api-key', 'a b'], /the API key must be/],
    'an empty data directory': [['--data-dir', ''], /--data-dir must not be empty/],
    'an empty projects file': [['--projects='], /--projects must not be empty/],
    'an empty key': [['--api-key', ''], /the API key must be/],
  };
  for (const [what, [args, message]] of Object.entries(wrong))
    it(`does not start with ${what}`, () => assert.throws(() => readOptions(args, {}), { message }));

  it('resolves the folders of its options when it starts, because it may change its working directory', () => {
    const options = readOptions(['--postgres-path', 'bin', '--extensions-dir', '../more'], {});
    assert.deepEqual(
      [options?.postgresPath, options?.extensionsDir],
      [path.resolve('bin'), path.resolve('../more')],
    );
  });

  it('takes several names of extensions that owners may create', () => {
    const names = (...args: readonly string[]) => readOptions(args, {})?.trustedExtensions;
    assert.deepEqual(names('--trust-extension=postgis', '--trust-extension', 'ip4r'), ['postgis', 'ip4r']);
    assert.deepEqual(names(), []);
  });

  it('exits with 2 and one line if an option is wrong', async () => {
    const { code, stdout, stderr } = await run(['--port', 'http']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^--port must be a whole number.*\n$/);
  });

  it('exits with one line if its Node is too old, as the MCP server and the npm program do', async () => {
    const files = [await builtService(), path.join(await builtMcp(), 'dist/mcp.js'), await installProgram()];
    for (const [file, version] of files.flatMap((each) => [
      [each, '20.19.6'] as const,
      [each, '22.2.0'] as const,
    ])) {
      const versions = `{ value: { ...process.versions, node: '${version}' } }`;
      const older = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`;
      const args = ['--import', older, file, '--help'];
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      const line = `Hosted Postgres needs Node 22.3 or newer, and this is Node ${version}.\n`;
      assert.deepEqual([status, stderr], [1, line], file);
    }
  });

  it('exits with 8 and one line if the projects file is wrong', async () => {
    const file = path.join(folder, 'projects.json');
    writeFileSync(file, '{');
    await assert.rejects(start({ args: ['--projects', file] }), didNotStart(8, /it is not JSON/));
  });

  it('prints one line when it is ready and exits with 0 on a signal', async () => {
    const { code, stdout, stderr } = await run(quick('--api-key', 'k'));
    const { baseUrl, pid } = JSON.parse(stdout) as { baseUrl: string; pid: number };
    assert.match(baseUrl, /^http:\/\/127\.0\.0\.1:\d+\/api\/v2$/);
    assert(pid > 0);
    assert.deepEqual([code, stdout.trim().split('\n').length, stderr.replace(SIMULATED, '')], [0, 1, '']);
  });

  it('leaves no temporary directory if a signal comes before it has its lock', async function () {
    if (process.platform !== 'linux') return this.skip(); // Only there, a program takes the lock.
    const flock = path.join(folder, 'flock');
    const temporary = path.join(folder, 'temporary');
    mkdirSync(temporary);
    chmodSync(temporary, 0o777); // A service of root uses only a folder that all may write.
    writeFileSync(flock, '#!/bin/sh\n: > "$0.runs"\nwhile [ -e "$0" ]; do sleep 0.1; done', { mode: 0o755 });
    const env = { ...process.env, TMPDIR: temporary, PATH: `${folder}:${process.env['PATH']}` };
    const args = [await builtService(), '--no-postgres', '--port', '0'];
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const ended = once(child, 'close');
    await until('the service takes its lock', async () => existsSync(`${flock}.runs`));
    const before = readdirSync(temporary);
    child.kill('SIGINT');
    const [code] = await ended;
    rmSync(flock);
    assert.deepEqual([before.length, code, readdirSync(temporary)], [1, 1, []]);
  });

  it('says that it simulates computes: in its help, its log, its line and where a connection is asked for', async () => {
    const help = await run(['--help']);
    assert.match(help.stdout, /--no-postgres +for tests of the API: computes are simulated/);
    assert.equal(help.code, 0);
    const { stdout, stderr } = await run(quick('--api-key', 'k'));
    assert.match(stderr, SIMULATED);
    assert.equal((JSON.parse(stdout) as { computes?: string }).computes, 'simulated');
    const service = await start();
    const path = '/projects/shiny-wind-028834/connection_uri?role_name=app_owner&database_name=app';
    const { json } = await call(service.baseUrl, { path, key: service.key });
    assert.match(JSON.stringify(json), /simulates computes \(--no-postgres\)/);
  });

  it('checks on request whether Postgres can be used, without data', async () => {
    const { code, stdout } = await run(['--check-postgres', '--postgres-path', folder]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^\{"problem":"No Postgres \d+ to \d+ .*","extensions":\{"included":\[\],"found":\[\]\}\}\n$/,
    );
    const working = JSON.parse((await run(['--check-postgres'])).stdout);
    assert.equal(working.problem, undefined);
    assert.ok(working.extensions.included.includes('citext'));
    assert.deepEqual(working.extensions.found, []);
    const [unused] = JSON.parse((await run(['--check-postgres', '--extensions-dir', folder])).stdout)
      .extensions.found;
    assert.deepEqual([unused.folder, unused.names], [folder, []]);
    assert.match(unused.problem, /ENOENT/);
  });

  it('creates a first key for a new account, prints it once, and keeps it', async () => {
    const key = (text: string) => /API key \(shown only now\): (\w+)/.exec(text)?.[1];
    const first = key((await run(quick(), { HOSTED_POSTGRES_SERVICE_API_KEY: '' })).stderr);
    assert(first);
    assert.equal(key((await run(quick(), { HOSTED_POSTGRES_SERVICE_API_KEY: '' })).stderr), undefined);
    const service = await start();
    assert.equal((await call(service.baseUrl, { path: '/projects', key: first })).status, 200);
  });

  it('reads the key from standard input', async () => {
    const { code } = await run(quick('--api-key-stdin'), {}, 'from-stdin\nrest');
    assert.equal(code, 0);
    const service = await start();
    assert.equal((await call(service.baseUrl, { path: '/projects', key: 'from-stdin' })).status, 200);
    await service.stop();
    assert.equal((await run(quick('--api-key-stdin'), {}, '')).code, 2);
  });

  it('makes its files private', async () => {
    const inside = path.join(folder, 'made');
    const service = await start({ dataDir: inside });
    const mode = (file: string) => (statSync(path.join(inside, file)).mode & 0o777).toString(8);
    // As root: `nobody` may pass through it.
    assert.match(mode('.'), /^7[01]0$/);
    assert.equal(mode('postgres'), '700');
    for (const file of ['postgres/account.json', 'service.json', 'service.lock'])
      assert.equal(mode(file), '600', file);
    const { startedAt, leaseSecret, ...info } = JSON.parse(
      readFileSync(path.join(inside, 'service.json'), 'utf8'),
    ) as Record<string, unknown>;
    assert.deepEqual(info, { baseUrl: service.baseUrl, pid: service.pid });
    assert.match(String(leaseSecret), /^[\w-]{43}$/);
    assert(Math.abs(Date.parse(String(startedAt)) - Date.now()) < 60_000);
    await service.stop();
    assert(hasReleasedLock(inside));
  });

  it('exits with 4 if its port is in use', async () => {
    const port = await listen(net.createServer());
    await assert.rejects(
      start({ args: ['--port', String(port)] }),
      didNotStart(4, /another program uses this port/),
    );
    assert(hasReleasedLock(folder));
  });

  it('exits with 5 if its data directory is not usable', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    await assert.rejects(
      start({ dataDir: path.join(file, 'x') }),
      didNotStart(5, /Cannot use the data directory .* is a file/),
    );
    if (os.userInfo().uid !== 0) {
      mkdirSync(path.join(folder, 'locked'), { mode: 0o500 });
      await assert.rejects(start({ dataDir: path.join(folder, 'locked') }), didNotStart(5, /EACCES/));
    }
  });

  const unreadable: readonly (readonly [number, RegExp, (account: string) => string])[] = [
    [6, /newer version/, () => `${JSON.stringify({ format: 99 })}\n`],
    [7, /is damaged/, (account) => account.replace(/name/, 'nama')],
  ];
  for (const [code, message, change] of unreadable)
    it(`exits with ${code} if its data has this problem: ${message.source}, and does not change it`, async () => {
      await (await start()).stop();
      const account = accountFile(folder);
      const changed = change(readFileSync(account, 'utf8'));
      writeFileSync(account, changed);
      await assert.rejects(start(), didNotStart(code, message));
      assert.equal(readFileSync(account, 'utf8'), changed);
    });

  it('reads a projects file only for a new account', async () => {
    await (await start()).stop();
    const service = await start({ args: ['--projects', 'test/real/service/small.json'] });
    await until('the message', async () => /already contains an account/.test(service.stderr()));
    for await (const { items } of service.client.projectPages()) assert.equal(items.length, 3);
  });

  it('does not wait for a long operation when it is to end', async () => {
    const service = await start({ args: ['--operation-delay', '600000'] });
    await service.client.restartCompute('shiny-wind-028834', 'ep-little-smoke-851426');
    assert.equal(await service.stop(), 0);
  });

  it('starts its log file again when it is full, if it is that of the extension', async () => {
    const size = 11 * 1024 * 1024;
    for (const [args, isEmptied] of [
      [['--end-with-leases', '60000'], true],
      [[], false],
    ] as const) {
      const file = path.join(folder, 'service.log');
      writeFileSync(file, `${'x'.repeat(size)}\n`);
      const log = openSync(file, 'a');
      const program = [await builtService(), ...quick('--api-key', 'k', ...args)];
      const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', log] });
      closeSync(log);
      await once(child.stdout ?? assert.fail('no output'), 'data');
      child.kill('SIGTERM');
      await once(child, 'exit');
      const text = readFileSync(file, 'utf8');
      assert.match(text.slice(-200), SIMULATED);
      assert.equal(text.length < size, isEmptied);
    }
  });
});
