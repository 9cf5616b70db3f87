// Runs the projects in test/real/npm/migrations/tools by the commands of their tools, which are installed for it in a temporary folder
// (those of Debian must be there), and writes what the databases then contain: `node scripts/migrationTools.ts [TOOL…]`. For new
// versions and cases; the tests compare the folders with what it has written.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runStep } from '../src/npm/library/migrations.ts';
import { writeFiles } from '../test/helpers/writeFiles.ts';
import { CASES, type ToolCase } from '../test/real/npm/migrations/tools/cases.ts';
import { contentOf, startDatabases, type Database } from '../test/real/npm/migrations/tools/databases.ts';
import { PROGRAMS } from '../test/real/npm/migrations/tools/programs.ts';
import { query, runStatements } from '../test/real/service/postgres/clients.ts';

const wanted = process.argv.slice(2);
const databases = await startDatabases();
try {
  for (const [name, each] of Object.entries({ ...CASES, ...PROGRAMS }))
    if (wanted.length === 0 || wanted.includes(name)) console.log(name, await record(name, each));
} finally {
  await databases.stop();
}

async function record(name: string, { packages, files, command, forget }: ToolCase): Promise<string> {
  const project = writeFiles(files);
  const ofNpm = packages.filter((each) => !each.includes(' '));
  if (ofNpm.length > 0)
    execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--silent', ...ofNpm], {
      cwd: project,
    });
  const database = await databases.create();
  process.env['PATH'] = [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter);
  await runStep(project, { run: command, files: [] }, database.url);
  return forget === undefined ? requireMade(database) : writeContent(name, database, forget);
}

async function requireMade({ url }: Database): Promise<string> {
  assert.deepEqual(await query(url, "select to_regclass('public.made') is not null"), [true]);
  return 'works by its command';
}

async function writeContent(name: string, database: Database, forget: string): Promise<string> {
  await runStatements(database.url, forget);
  const content = await contentOf(database);
  writeFileSync(path.join(import.meta.dirname, `../test/real/npm/migrations/tools/${name}.txt`), content);
  return `${content.split('\n').length} lines`;
}
