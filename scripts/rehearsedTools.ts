// Rehearses the migrations of test/real/rehearsal/cases/toolCases.ts by the commands of their tools, which are installed for it in a
// temporary folder, and writes the statements that the tools have sent: `node scripts/rehearsedTools.ts`. For new versions and cases;
// the tests rehearse what it has written.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../test/helpers/localService.ts';
import { TOOL_CASES, type ToolCase } from '../test/real/rehearsal/cases/toolCases.ts';
import {
  startSeeded,
  withoutDurations,
  saferForms,
  type Rehearsals,
} from '../test/real/rehearsal/rehearsals.ts';

const PACKAGES = [
  'drizzle-kit@0.31.11',
  'drizzle-orm@0.45.4',
  'knex@3.3.0',
  'node-pg-migrate@9.0.0',
  'typeorm@1.1.1',
  'reflect-metadata@0.2.2',
  'pg@8.23.1',
];
const OUTPUT = path.join(import.meta.dirname, '../test/real/rehearsal/cases/toolStatements.json');
/** What a tool notes for itself has values that statements don't show, or is in its own tables. */
const OWN =
  /\$1|knex_migrations|pgmigrations|"migrations"|__drizzle_migrations|SCHEMA IF NOT EXISTS "drizzle"/;
const SCHEMA = (text: string) => `import * as t from 'drizzle-orm/pg-core';\n${text}\n`;

const root = temporaryFolder();
writeFileSync(path.join(root, 'package.json'), '{ "private": true }');
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...PACKAGES], { cwd: root });
const rehearsals = await startSeeded();
const found: object[] = [];
try {
  for (const [tool, cases] of Object.entries(TOOL_CASES))
    for (const each of cases) found.push(await record(rehearsals, tool, each));
  writeFileSync(OUTPUT, `${JSON.stringify(found, undefined, 2)}\n`);
} finally {
  await rehearsals.service.stop();
}

async function record(from: Rehearsals, tool: string, { title, up, says = [] }: ToolCase): Promise<object> {
  const project = mkdtempSync(path.join(root, 'project-'));
  const command = typeof up === 'string' ? writeProject(project, tool, up) : generate(project, up);
  const report = await from.rehearse(async ({ url }) => run(command, project, url));
  rmSync(project, { recursive: true });
  const dangers = report.verdict === 'safe' ? [] : withoutDurations(report);
  assert.deepEqual(dangers, [...says].toSorted(), `${tool} ${title}`);
  const sql = report.statements
    .map(({ text }) => text.trim())
    .filter((text) => text !== '' && !OWN.test(text));
  const safer = saferForms(report);
  console.log(tool, title, dangers, safer);
  return {
    title: `${tool} ${title}`,
    sql,
    ...(says.length > 0 && { says }),
    ...(safer.length > 0 && { safer }),
  };
}

/** @returns the command */
function writeProject(project: string, tool: string, up: string): string {
  const write = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  };
  write('package.json', '{ "type": "commonjs" }');
  if (tool === 'knex') {
    write('knexfile.js', `module.exports = { client: 'pg', connection: process.env.DATABASE_URL };`);
    write('migrations/20260101000000_it.js', `exports.up = (k) => ${up}; exports.down = () => {};`);
    return 'npx knex migrate:latest';
  }
  if (tool === 'node-pg-migrate') {
    write('migrations/1700000000000_it.js', `exports.up = (pgm) => { ${up}; }; exports.down = () => {};`);
    return 'npx node-pg-migrate up';
  }
  write(
    'data-source.js',
    `const { DataSource } = require('typeorm');
module.exports = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, migrations: ['migrations/*.js'] });`,
  );
  write(
    'migrations/1700000000000-it.js',
    `const { Table, TableColumn, TableForeignKey, TableIndex } = require('typeorm');
exports.It = class It1700000000000 { async up(runner) { await ${up}; } async down() {} };`,
  );
  return 'npx typeorm migration:run -d data-source.js';
}

/** Lets Drizzle make the file, and takes the one before it as applied. @returns the command */
function generate(project: string, [before, after]: readonly [string, string]): string {
  writeFileSync(
    path.join(project, 'drizzle.config.js'),
    `module.exports = { dialect: 'postgresql', schema: './schema.ts', out: './drizzle', dbCredentials: { url: process.env.DATABASE_URL } };`,
  );
  for (const text of [before, after]) {
    writeFileSync(path.join(project, 'schema.ts'), SCHEMA(text));
    execFileSync('npx', ['drizzle-kit', 'generate'], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const journal = path.join(project, 'drizzle/meta/_journal.json');
  const content = JSON.parse(readFileSync(journal, 'utf8')) as { entries: object[] };
  assert.equal(content.entries.length, 2, readdirSync(path.join(project, 'drizzle')).join());
  writeFileSync(journal, JSON.stringify({ ...content, entries: content.entries.slice(1) }));
  return 'npx drizzle-kit migrate';
}

async function run(command: string, cwd: string, url: string): Promise<number> {
  const env = { ...process.env, DATABASE_URL: url };
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', command], { cwd, env }, (error, output, errors) => {
      if (error !== null) console.error(output, errors);
      resolve(error === null ? 0 : 1);
    });
  });
}
