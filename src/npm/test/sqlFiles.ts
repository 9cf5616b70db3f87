/** Which SQL a file or folder of migrations runs, and in which order: the layouts of the usual tools. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fieldsOf } from '../../base/fieldsOf.ts';

export interface SqlFile {
  readonly file: string;
  /** Without the parts that undo it, whose lines are empty. */
  readonly text: string;
  /** Its tool runs it in one transaction. */
  readonly inTransaction: boolean;
}

/** Lines that begin the parts of a file: dbmate, goose, sql-migrate, node-pg-migrate, Rambler, Play and Tern. */
const UP = /^\s*--[ \t-]*(?:migrate:up|\+(?:goose|migrate) up|up migration|rambler up|!ups)\b/i;
const DOWN =
  /^\s*--[ \t-]*(?:migrate:down|\+(?:goose|migrate) down|down migration|rambler down|!downs|create above \/ drop below)\b/i;
const DBMATE_OR_GOOSE = /^\s*--\s*(?:migrate:|\+goose |\+migrate )up\b/im;
const NO_TRANSACTION = /^\s*--.*(?:\btransaction:\s*false|\+goose no transaction|\bnotransaction\b)/im;

/** What only the tool itself can run. */
const TOOL_ONLY = [
  [/^--\s*liquibase formatted sql/im, 'is for Liquibase', 'liquibase update'],
  [
    /^--\s*atlas:(?:checkpoint|delimiter|import)/im,
    'is for Atlas',
    'atlas migrate apply --url "$DATABASE_URL"',
  ],
  [/^--\s*\+goose envsub/im, 'is for goose', 'goose postgres "$DATABASE_URL" up'],
] as const;

/** Programs that migrate, by the numbers that their names begin with: others are there for other reasons. */
const PROGRAM = /(?:^|\/)(?:V|Migration)?\d[^/]*\.(?:[cm]?[jt]s|py|rb|go|php|java|kt|cs|exs)$/i;
const COMMANDS: Readonly<Record<string, string>> = {
  py: 'alembic upgrade head',
  rb: 'bin/rails db:migrate',
  go: 'goose postgres "$DATABASE_URL" up',
  php: 'php artisan migrate',
  java: 'flyway migrate',
  kt: 'flyway migrate',
  cs: 'dotnet ef database update',
  exs: 'mix ecto.migrate',
};
/** Migrations as Django names them. */
const DJANGO = /(?:^|\/)\d{4}_\w+\.py$/;

const commandFor = (program: string): string =>
  DJANGO.test(program)
    ? 'python manage.py migrate'
    : (COMMANDS[path.extname(program).slice(1)] ?? 'npx knex migrate:latest');

/** @throws {Error} if the order, or which files to run, would be a guess */
export async function sqlFiles(name: string): Promise<SqlFile[]> {
  if (await isFile(name)) return [await readSql(name, name)];
  const all = (await listFiles(name)).map((file) => path.relative(name, file).replaceAll(path.sep, '/'));
  const names = all.filter((each) => !each.split('/').some((part) => part.startsWith('.')));
  const ordered = await order(name, names);
  const files = await Promise.all(ordered.map(async (each) => readSql(path.join(name, each), name)));
  // dbmate's order is that of the text.
  return files.some(({ text }) => /^\s*--\s*migrate:up/im.test(text))
    ? files.toSorted((a, b) => compare(a.file, b.file))
    : files;
}

/** All files in and below a folder, or the file itself. A link to a folder isn't followed, because it can lead back. */
export async function listFiles(name: string): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return entry.isFile() || (entry.isSymbolicLink() && (await isFile(file))) ? [file] : [];
    }),
  );
  return files.flat().toSorted();
}

const isFile = async (name: string): Promise<boolean> =>
  stat(name).then(
    (stats) => stats.isFile(),
    () => false,
  );

async function order(folder: string, names: readonly string[]): Promise<string[]> {
  const sql = names.filter((name) => /\.sql$/i.test(name));
  const program = names.find((name) => PROGRAM.test(name));
  if (program !== undefined)
    throw refusal(folder, `has migrations that aren't SQL, such as ${program}`, commandFor(program));
  if (sql.length === 0) throw refusal(folder, 'has no .sql files', 'npx drizzle-kit migrate');
  if (names.includes('sqitch.plan') || (await isFile(path.join(folder, '..', 'sqitch.plan'))))
    throw refusal(folder, 'is for Sqitch, whose plan has the order', 'sqitch deploy "db:$DATABASE_URL"');
  if (names.includes('meta/_journal.json')) return drizzleOrder(folder);
  if (sql.some((name) => FLYWAY.test(path.basename(name)))) return flywayOrder(folder, sql);
  const forward = withoutUndo(folder, sql);
  const folders = new Set(forward.map((name) => path.posix.dirname(name)));
  const depths = new Set(forward.map((name) => name.split('/').length));
  const byPrisma = forward.every((name) => name.endsWith('/migration.sql'));
  const areNumbered = byPrisma || [...folders].every((each) => /^(?:.*\/)?v?\d[^/]*$/i.test(each));
  if (depths.size > 1 || (folders.size > 1 && !areNumbered))
    throw refusal(
      folder,
      `has .sql files in several folders, whose order isn't known: ${[...folders].toSorted().join(', ')}`,
      'npx graphile-migrate migrate',
    );
  // Prisma, Atlas and Supabase sort by text, all others by number.
  const byText =
    byPrisma ||
    names.includes('atlas.sum') ||
    path.basename(path.dirname(path.resolve(folder))) === 'supabase';
  return forward.toSorted(byText ? compare : (a, b) => compare(numbered(a), numbered(b)));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Text that sorts by the numbers in it. */
const numbered = (name: string): string =>
  name.replaceAll(/\d+/g, (digits) => digits.replace(/^0+/, '').padStart(20, '0'));

async function drizzleOrder(folder: string): Promise<string[]> {
  const file = path.join(folder, 'meta/_journal.json');
  const { entries }: { entries: readonly { readonly tag: string }[] } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  return entries.map(({ tag }) => `${tag}.sql`);
}

const FLYWAY = /^(?:([VUB])(\d+(?:[._]\d+)*)|(R))__.+\.sql$/;

/** By version, then those that Flyway repeats, by description. */
function flywayOrder(folder: string, sql: readonly string[]): string[] {
  const keys = new Map<string, string>();
  for (const name of sql) {
    const [match, kind, version = ''] = FLYWAY.exec(path.basename(name)) ?? [];
    if (match === undefined || kind === 'B')
      throw refusal(folder, `has ${name}, whose place in Flyway's order isn't known`, 'flyway migrate');
    if (kind !== 'U') keys.set(name, kind ? `1${numbered(version.replaceAll('_', '.'))}` : `2${match}`);
  }
  return [...keys].toSorted(([, a], [, b]) => compare(a, b)).map(([name]) => name);
}

/** The word in a file's name that says what the file does. The rest of the name (`start`, `end`) is the same in both files of a pair. */
const DIRECTIONS = [
  // `1_a.up.sql`, `1-a-up.sql`, `1_a/up.sql`
  /^(?<start>.*[._/-]|)(?<word>up|down|undo|rollback|revert)(?<end>\.sql)$/i,
  // `001.do.sql`, `001.undo.a.sql`: the description can differ
  /^(?<start>.+\.)(?<word>do|undo)\..*$/i,
  // `up/1.sql`, `deploy/1.sql`
  /^(?<start>.*\/|)(?<word>up|deploy|down|undo|rollback|revert|verify)(?<end>\/.+)$/i,
];

function withoutUndo(folder: string, sql: readonly string[]): string[] {
  const files = sql.map((name) => {
    const match = DIRECTIONS.map((each) => each.exec(name)).find(Boolean);
    const { start = '', word = '', end = '' } = match?.groups ?? {};
    return { name, pair: `${start}*${end}`, word: word.toLowerCase() };
  });
  const isForward = (word: string): boolean => ['up', 'do', 'deploy'].includes(word);
  const back = files.filter(({ word }) => word !== '' && !isForward(word));
  if (back.length === 0) return [...sql];
  const forward = files.filter(({ word }) => isForward(word));
  const pairs = new Set(forward.map(({ pair }) => pair));
  const unclear = files.find(({ word }) => word === '') ?? back.find(({ pair }) => !pairs.has(pair));
  if (unclear !== undefined)
    throw refusal(
      folder,
      `has files that undo others, and ${unclear.name}, which isn't one of a pair`,
      'npx dbmate up',
    );
  return forward.map(({ name }) => name);
}

async function readSql(file: string, given: string): Promise<SqlFile> {
  let text: string;
  try {
    // Leaves out a byte order mark, as psql does.
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (fieldsOf(error)['code'] !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw refusal(
      given,
      `has a file that isn't UTF-8 text: ${file}`,
      'pg_restore --dbname "$DATABASE_URL" FILE',
    );
  }
  for (const [pattern, reason, command] of TOOL_ONLY)
    if (pattern.test(text)) throw refusal(file, reason, command);
  if (FLYWAY.test(path.basename(file)) && /\$\{\w/.test(text))
    throw refusal(file, 'has placeholders of Flyway', 'flyway migrate');
  return {
    file,
    text: upPart(file, text),
    inTransaction: DBMATE_OR_GOOSE.test(text) && !NO_TRANSACTION.test(text),
  };
}

/** Empties the lines that undo the others. @throws {Error} if there is SQL before the first part */
function upPart(file: string, text: string): string {
  const lines = text.split('\n');
  const hasUp = lines.some((line) => UP.test(line));
  let part = hasUp ? 'none' : 'up';
  return lines
    .map((line) => {
      if (UP.test(line)) part = 'up';
      else if (DOWN.test(line)) part = 'down';
      else if (part === 'none' && !/^\s*(?:--|$)/.test(line))
        throw refusal(file, 'has SQL before the line that begins its migration', 'npx dbmate up');
      return part === 'up' ? line : '';
    })
    .join('\n');
}

function refusal(where: string, reason: string, command: string): Error {
  const example = `{ run: '${command}', files: ['${path.basename(where)}'] }`;
  return new Error(
    `${where} ${reason}. Give a .sql file, a folder of them, or your tool's command, such as ${example}.`,
  );
}
