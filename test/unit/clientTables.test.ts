/** The tables of docs/clients.md that clients.test.ts doesn't read: their versions are those that the project pins, and tests exist. */
import assert from 'node:assert/strict';
import { projectFiles, readText } from '../helpers/projectFiles.ts';

const NPM = 'test/package/npm.test.ts';
const NPM_TOOLS = 'test/package/npmTools.test.ts';
const NETWORK = 'test/real/service/postgres/network';

/** The suite of each row, with words of its title or code; undefined if none runs what it says. */
const SUITES: Readonly<Record<string, readonly [suite: string, words: string] | undefined>> = {
  '`neon psql main@<time>`': [
    'test/real/tools/neonctlHistory.test.ts',
    'names the commands that work instead',
  ],
  '`neon cs --pooled`': ['test/real/tools/neonctl.test.ts', "'main', '--pooled'"],
  '`options=endpoint=…`, for clients without SNI': [`${NETWORK}/startupParameters.test.ts`, 'endpoint%3D'],
  '`endpoint=…;` before the password': [`${NETWORK}/startupParameters.test.ts`, ':endpoint=ep-x;'],
  'settings in the start-up packet, such as `statement_timeout` of `pg` and `search_path` of postgres.js': [
    `${NETWORK}/startupParameters.test.ts`,
    'take settings from options only',
  ],
  '`options=-c …` at the pooled address with PgBouncer': [
    `${NETWORK}/pooler.test.ts`,
    'unsupported startup parameter',
  ],
  '`channel_binding=require` of libpq and pgjdbc at the pooled address with PgBouncer': undefined,
  'a wrong password at the pooled address with PgBouncer': undefined,
  'Playwright, `webServer`': [NPM_TOOLS, "versionOf('Playwright')"],
  'Vitest, with fake timers': [NPM_TOOLS, "'Vitest'"],
  'Jest, with fake timers, also global': [NPM_TOOLS, "versionOf('Jest')"],
  'sinon, `useFakeTimers`': [NPM_TOOLS, "versionOf('sinon')"],
  Mocha: [NPM, 'test files of mocha and node:test'],
  'node:test': [NPM, 'test files of mocha and node:test'],
  'nock, `disableNetConnect()`': [NPM_TOOLS, "'nock'"],
  "MSW, `onUnhandledRequest: 'error'`": [NPM_TOOLS, "'MSW'"],
  "Yarn with Plug'n'Play": [NPM_TOOLS, "versionOf('Yarn')"],
  pnpm: [NPM_TOOLS, "versionOf('pnpm')"],
  'TypeScript, `node10` resolution': [NPM_TOOLS, "versionOf('TypeScript')"],
};

/** The packages of tools that have another name in a table. */
const PACKAGES: Readonly<Record<string, string>> = {
  'drizzle-kit push': 'drizzle-kit',
  'Liquibase of npm': 'liquibase',
  'node:test': 'node',
  PgTyped: '@pgtyped/cli',
  'server-postgres of MCP': '@modelcontextprotocol/server-postgres',
};

/** Tools of the last table that nothing else in the project runs. */
const UNPINNED = [
  'connect-pg-simple',
  'DBHub',
  'graphile-worker',
  'Kanel',
  "Neon's @neondatabase/toolkit",
  'Objection with Knex',
  'pg-boss',
  'pg-copy-streams',
  'pg-cursor',
  'pg-listen',
  'pg-query-stream',
  'Pools of @vercel/postgres',
  'rake-db',
  'Zapatos',
];

/** Returns the rows of a table, each with its cells. */
function rowsOf(title: string, columns: string): string[][] {
  const [, section = ''] = readText('docs/clients.md').split(`\n## ${title}\n`);
  const [, table = ''] = section.split(new RegExp(`^\\| ${columns} .*\\n\\|[ -|]+\\n`, 'm'));
  const [rows = ''] = table.trim().split('\n\n');
  return rows.split('\n').map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Returns the versions of a package in the project: exact dependencies, and what tests, scripts and findings install or name. */
function pinnedVersions(): Map<string, Set<string>> {
  const pins = new Map<string, Set<string>>();
  const add = (name: string, version: string) =>
    pins.set(name.toLowerCase(), (pins.get(name.toLowerCase()) ?? new Set()).add(version));
  const { devDependencies }: { devDependencies: Readonly<Record<string, string>> } = JSON.parse(
    readText('package.json'),
  );
  for (const [name, version] of Object.entries(devDependencies)) add(name, version);
  for (const file of [
    ...projectFiles('test', '.ts'),
    ...projectFiles('scripts', '.ts'),
    ...projectFiles('findings', '.sh'),
  ]) {
    const text = readText(file);
    // A finding names programs that aren't of npm in its first sentence.
    for (const [, name = '', version = ''] of text.matchAll(/(@?[\w./-]+)@(\d+\.\d+\.\d+)(?![\w.-])/g))
      add(name, version);
    for (const [, name = '', version = ''] of text.matchAll(/^# ([A-Z]\w+) (\d+\.\d+\.\d+) /gm))
      add(name, version);
  }
  return pins;
}

describe('docs/clients.md', () => {
  const refusals = rowsOf('Drivers, ORMs and the command line', 'what');
  const testTools = rowsOf('Test tools and package managers', 'tool');
  const otherTools = rowsOf('Migration tools, queues, code generators and MCP servers', 'tool');

  it('has a test for each refusal and each test tool', () => {
    const rows = [...refusals, ...testTools].map(([what = '']) => what);
    assert.deepEqual(rows.toSorted(), Object.keys(SUITES).toSorted());
    for (const [row, suite] of Object.entries(SUITES)) {
      if (suite !== undefined) assert.ok(readText(suite[0]).includes(suite[1]), row);
    }
  });

  it('has the versions that the project pins', () => {
    const pins = pinnedVersions();
    const unpinned: string[] = [];
    const check = (tool: string, version: string) => {
      const pinned = pins.get((PACKAGES[tool] ?? tool).toLowerCase());
      if (pinned === undefined) unpinned.push(tool);
      else assert.ok(pinned.has(version), `${tool} ${version} is ${[...pinned].join(' or ')} elsewhere`);
    };
    for (const [tools = '', cell = ''] of otherTools) {
      const names = tools.replaceAll('`', '').split(', ');
      const versions = cell.split(', ');
      assert.equal(names.length, versions.length, tools);
      for (const [index, name] of names.entries()) check(name, versions[index] ?? '');
    }
    // The versions of the others are installed as this table names them.
    for (const [tool = '', version = ''] of testTools)
      if (tool === 'Mocha' || tool === 'node:test') check(tool, version);
    assert.deepEqual(unpinned.toSorted(), UNPINNED.toSorted());
  });
});
