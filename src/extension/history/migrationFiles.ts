/** The migrations of a working tree: the files in folders for migrations that git tracks. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { readUserText } from '../../base/files.ts';
import type { RunGit } from '../../base/runGit.ts';
import type { Repository } from '../gitBranch/gitState.ts';
import { readCommitsSince } from './headLog.ts';

/** Such as `prisma/migrations/1_init/migration.sql` and `db/migrate/1_init.rb`. */
const IN_FOLDER = /(?:^|\/)(?:migrations?|migrate|drizzle)\/.*\.(?:sql|[cm]?[jt]s|rb)$/i;

/** More would take too long after each checkout. */
const MAX_FILES = 2000;
const MAX_COMMITS = 200;

/** How programs may note that a file was applied: by its name or that of its folder, by its number or by its content. */
export type MigrationFile = readonly string[];

/** @param folder of the working tree. @returns undefined if they can't be read */
export async function readMigrations(
  runGit: RunGit,
  folder: string,
): Promise<readonly MigrationFile[] | undefined> {
  const { code, stdout } = await runGit(folder, 'ls-files', '--deduplicate', '-z');
  if (code !== 0) return undefined;
  const names = stdout.split('\0').filter((name) => IN_FOLDER.test(name));
  if (names.length > MAX_FILES) return undefined;
  const files = names.map(async (name): Promise<readonly MigrationFile[]> => {
    const text = await readUserText(path.join(folder, name), folder);
    // It was deleted, but not yet from the index.
    return text === undefined ? [] : [notedNames(name, text)];
  });
  return (await Promise.all(files)).flat();
}

function notedNames(name: string, text: string): MigrationFile {
  const file = path.basename(name);
  const number = /^\d+/.exec(file)?.[0] ?? '';
  const hash = createHash('sha256').update(text).digest('hex');
  const names = [file, path.parse(file).name, path.basename(path.dirname(name)), number, hash];
  return names.map(withoutLeadingZeros);
}

/** Some programs note `1` for `0001_init.sql`. */
export const withoutLeadingZeros = (name: string): string => name.replace(/^0+(?=\d+$)/, '');

/**
 * @returns whether all migrations are in git, and have the same text in every commit that HEAD had since a time (in milliseconds
 * since 1970). The text of a file that git doesn't have may have been edited since then
 */
export async function areUnchangedSince(
  runGit: RunGit,
  folder: string,
  repository: Repository,
  time: number,
): Promise<boolean> {
  const commits = await readCommitsSince(repository, time);
  if (commits === undefined || commits.size > MAX_COMMITS) return false;
  const others = await runGit(folder, 'ls-files', '--others', '--exclude-standard', '-z');
  if (others.code !== 0 || hasMigrations(others.stdout)) return false;
  for (const commit of commits) {
    const options = ['--name-only', '--no-renames', '--diff-filter=M', '-z'];
    const { code, stdout } = await runGit(folder, 'diff', ...options, commit, '--');
    if (code !== 0 || hasMigrations(stdout)) return false;
  }
  return true;
}

/** @param list of names, with NUL */
const hasMigrations = (list: string): boolean => list.split('\0').some((name) => IN_FOLDER.test(name));
