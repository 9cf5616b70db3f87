// Rehearses the migrations of test/real/rehearsal/cases/toolCases.ts and modelCases.ts by the commands of their tools, through
// `npx hosted-postgres rehearse`, and writes the statements that the tools have sent: `node scripts/rehearsedTools.ts [TOOL…]`. For new
// versions and cases; the tests rehearse what it has written. Those of npm are installed in a temporary folder. Django, Alembic and Rails
// must be there: Debian's python3-django, python3-alembic, python3-psycopg2, ruby-rails and ruby-pg.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RehearsalReport } from '../src/rehearsal/report.ts';
import { temporaryFolder } from '../test/helpers/localService.ts';
import { installProgram } from '../test/helpers/npxProgram.ts';
import type { MigrationCase } from '../test/real/rehearsal/cases/case.ts';
import { MODEL_CASES } from '../test/real/rehearsal/cases/modelCases.ts';
import { TOOL_CASES, type ToolCase } from '../test/real/rehearsal/cases/toolCases.ts';
import { saferForms, startSeeded, withoutDurations } from '../test/real/rehearsal/rehearsals.ts';
import { LONGEST_LOCK } from '../test/real/rehearsal/seededTables.ts';
import { makeProject, TOOL_ENVIRONMENT } from './toolProjects.ts';

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
  /\$1|knex_migrations|pgmigrations|"migrations"|django_migrations|schema_migrations|alembic_version|ar_internal_metadata|^DEALLOCATE |SCHEMA IF NOT EXISTS "drizzle"/;

interface Pending {
  readonly title: string;
  readonly folder: string;
  /** The one with the seeded tables. */
  readonly branchId: string;
  readonly command: string;
  readonly says: readonly string[];
}

const chosen = process.argv.slice(2);
const tools = Object.entries({ ...TOOL_CASES, ...MODEL_CASES });
const root = temporaryFolder();
writeFileSync(path.join(root, 'package.json'), '{ "private": true }');
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', '--ignore-scripts', ...PACKAGES], {
  cwd: root,
});
const dataDir = temporaryFolder();
const pending = await makeProjects();
const program = await installProgram();
const found = new Map<string, MigrationCase>();
for (const each of pending) {
  const migration = await record(each);
  if (migration === undefined) process.exitCode = 1;
  else found.set(each.title, migration);
  write();
}

/** After each, because all of them take minutes. */
function write(): void {
  const former = JSON.parse(readFileSync(OUTPUT, 'utf8')) as readonly MigrationCase[];
  const kept = new Map(former.map((each) => [each.title, each]));
  const titles = tools.flatMap(([tool, cases]) => cases.map(({ title }) => `${tool} ${title}`));
  const all = titles.flatMap((title) => found.get(title) ?? kept.get(title) ?? []);
  writeFileSync(OUTPUT, `${JSON.stringify(all, undefined, 2)}\n`);
}

/** While a service with the seeded tables runs, because some generators read them. */
async function makeProjects(): Promise<Pending[]> {
  const { service, url, branchId } = await startSeeded({ dataDir });
  const make = (tool: string, { title, up, says = [] }: ToolCase): Pending => {
    const folder = mkdtempSync(path.join(root, 'project-'));
    return { title: `${tool} ${title}`, folder, branchId, command: makeProject(folder, url, tool, up), says };
  };
  try {
    const wanted = tools.filter(([tool]) => chosen.length === 0 || chosen.includes(tool));
    return wanted.flatMap(([tool, cases]) => cases.map((each) => make(tool, each)));
  } finally {
    await service.stop();
  }
}

/** @returns undefined if it isn't what was expected */
async function record({ title, says, ...project }: Pending): Promise<MigrationCase | undefined> {
  const report = await rehearse(project);
  const dangers = report.verdict === 'safe' ? [] : withoutDurations(report);
  if (!isDeepStrictEqual(dangers, says.toSorted())) {
    console.error(title, 'says', dangers, 'instead of', says);
    return undefined;
  }
  const sql = report.statements
    .map(({ text }) => text.trim())
    .filter((text) => text !== '' && !OWN.test(text));
  const safer = saferForms(report);
  console.log(title, dangers, safer);
  return { title, sql, ...(says.length > 0 && { says }), ...(safer.length > 0 && { safer }) };
}

/** What a tool prints is shown. */
async function rehearse({
  folder: cwd,
  branchId,
  command,
}: Pick<Pending, 'folder' | 'branchId' | 'command'>): Promise<RehearsalReport> {
  const args = [
    'rehearse',
    '--json',
    '--data-dir',
    dataDir,
    '--from',
    branchId,
    '--longest-lock',
    String(LONGEST_LOCK),
    '--run',
    command,
  ];
  const env = { ...process.env, ...TOOL_ENVIRONMENT };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd, env, maxBuffer: 2 ** 26 }, (_, text, errors) => {
      if (text === '') console.error(errors);
      resolve(text);
    });
  });
  return JSON.parse(output) as RehearsalReport;
}
