/** Which SQL a file or folder of migrations runs, in which order, and how. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readChosenFile } from '../base/files.ts';
import { sortFiles } from './fileOrder.ts';
import type { FolderRules, MigrationTool, TransactionMode } from './migrationTools.ts';
import { recognizeFile, recognizeFolder, type FoundMigrations } from './recognizeTool.ts';
import { createRefusalFactory, type CreateRefusal } from './refusal.ts';
import { findProjectTools } from './shownTools.ts';
import { findUndoPart } from './undoPart.ts';
import { PartError } from './upPart.ts';

/** A file to run. */
export interface SqlFile {
  readonly file: string;
  /** The SQL of the migration, with empty lines in place of the part that undoes the migration. A character is a byte. */
  readonly text: string;
  readonly transaction: TransactionMode;
}

/** The files to run, and how. */
export interface SqlFiles {
  /** The tool of the files; undefined if it isn't known. */
  readonly tool: MigrationTool | undefined;
  readonly files: readonly SqlFile[];
  readonly rules: FolderRules;
  /** Makes the error for what is noticed later. */
  readonly refuse: CreateRefusal;
}

/** Matches programs that migrate, by the numbers that their names begin with. Other programs are there for other reasons. */
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
/** Matches migrations as Django names them. */
const DJANGO = /(?:^|\/)\d{4}_\w+\.py$/;

/** Returns the command for migrations in the program's language; undefined for JavaScript, which many tools run. */
const commandOfProgram = (program: string): string | undefined =>
  DJANGO.test(program) ? 'python manage.py migrate' : COMMANDS[path.extname(program).slice(1)];

/** @throws {Error} if the order, or which files to run, would be a guess */
export async function loadSqlFiles(name: string): Promise<SqlFiles> {
  const isSingle = await isFile(name);
  const folder = isSingle ? path.dirname(name) : name;
  const shown = await findProjectTools(folder);
  const refuse = createRefusalFactory(
    name,
    shown.map(({ command }) => command),
  );
  const names = isSingle ? [path.basename(name)] : await listSql(name, refuse);
  const texts = new Map<string, string>();
  for (const each of names) texts.set(each, await readText(path.join(folder, each)));
  const found: FoundMigrations = { folder, texts, shown, refuse };
  const { tool, rules, forward } = isSingle ? recognizeFile(found) : await recognizeFolder(found);
  const refuseNamingTool: CreateRefusal = (where, reason) => refuse(where, reason, tool?.command);
  const ordered = isSingle ? forward : await sortFiles(folder, forward, rules, refuseNamingTool);
  const files = ordered.map((each) =>
    readPart(path.join(folder, each), texts.get(each), rules, refuseNamingTool),
  );
  return { tool, files, rules, refuse: refuseNamingTool };
}

/** Lists all files in and below a folder, or the file itself. A link to a folder isn't followed, because it can lead back. */
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

/** @throws {Error} if there are migrations that aren't SQL, or none that are */
async function listSql(folder: string, refuse: CreateRefusal): Promise<string[]> {
  const all = (await listFiles(folder)).map((file) => path.relative(folder, file).replaceAll(path.sep, '/'));
  const names = all.filter((each) => !each.split('/').some((part) => part.startsWith('.')));
  const program = names.find((name) => PROGRAM.test(name));
  if (program !== undefined)
    throw refuse(folder, `has migrations that aren't SQL, such as ${program}`, commandOfProgram(program));
  const sql = names.filter((name) => /\.sql$/i.test(name));
  if (sql.length === 0) throw refuse(folder, 'has no .sql files');
  return sql;
}

/** Reads without a byte order mark, as psql does. @returns a character for each byte in any encoding */
const readText = async (file: string): Promise<string> =>
  (await readChosenFile(file)).toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');

/** @throws {Error} if only the tool can run the file */
function readPart(
  file: string,
  text: string | undefined,
  rules: FolderRules,
  refuse: CreateRefusal,
): SqlFile {
  if (text === undefined) throw refuse(file, "doesn't exist, although the order of the files names it");
  if (rules.refused?.mark.test(text) === true) throw refuse(file, rules.refused.reason);
  if (rules.transaction === 'unknown' && rules.upPart === undefined) {
    const reason = findUndoPart(text);
    if (reason !== undefined) throw refuse(file, reason);
  }
  const transaction = rules.without?.mark.test(text) === true ? rules.without.transaction : rules.transaction;
  try {
    return { file, text: rules.upPart?.(text) ?? text, transaction };
  } catch (error) {
    if (!(error instanceof PartError)) throw error;
    throw refuse(file, error.message);
  }
}
