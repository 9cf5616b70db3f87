/**
 * Which migrations a checkout has removed: the files that the commit before had, and the working tree doesn't have, anywhere in the
 * repository.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { readUserText } from '../../base/files.ts';
import type { RunGit } from '../../base/git/runGit.ts';
import type { Repository } from '../../base/git/repository.ts';
import { readCommitsSince, readLeftCommits } from './headLog.ts';

/** Matches the names of programs and of SQL. */
const SCRIPT = /\.(?:sql|[cm]?[jt]s|rb|exs|py|php|go)$/i;

/** The most removed files that are considered. More would take too long after each checkout. */
const MAX_REMOVED = 200;
const MAX_COMMITS = 200;

/** A file that git has, with the id of its content. */
interface GitFile {
  /** The path from the root of the working tree. */
  readonly name: string;
  readonly content: string;
}

/** The scripts of a worktree after checkouts or resets. */
export interface MigrationFiles {
  /** Those of the commits that HEAD has left that are no longer in the worktree. */
  readonly removed: readonly GitFile[];
  /** Those in git's index. */
  readonly tracked: readonly GitFile[];
  /** The files that exist, including those that git doesn't have. */
  readonly present: readonly string[];
  /** The names of SQL files by the SHA-256 of their text: of removed ones, and of tracked ones next to them. */
  readonly hashes: ReadonlyMap<string, readonly string[]>;
}

type GitFolder = Pick<Repository, 'worktree' | 'gitDir'>;

/** Returns the migration files of a worktree; undefined if they can't be read, or if no script was removed. */
export async function readMigrationFiles(
  runGit: RunGit,
  { worktree, gitDir }: GitFolder,
): Promise<MigrationFiles | undefined> {
  const listWithGit = async (...args: readonly string[]) => {
    const { code, stdout } = await runGit(worktree, ...args);
    return code === 0 ? stdout.split('\0').filter((text) => text !== '') : undefined;
  };
  const removed = new Map<string, GitFile>();
  for (const commit of await readLeftCommits({ gitDir })) {
    const options = ['-r', '-z', '--raw', '--no-renames', '--diff-filter=D'];
    const found = await listWithGit('diff-tree', ...options, commit, 'HEAD');
    if (found === undefined) return undefined;
    for (const [index, name] of found.entries()) {
      const [, , content] = found[index - 1]?.split(' ') ?? [];
      if (index % 2 === 1 && content !== undefined && SCRIPT.test(name)) removed.set(name, { name, content });
    }
    if (removed.size > MAX_REMOVED) return undefined;
  }
  if (removed.size === 0) return undefined;
  const staged = await listWithGit('ls-files', '--stage', '-z');
  const others = await listWithGit('ls-files', '--others', '--exclude-standard', '-z');
  if (staged === undefined || others === undefined) return undefined;
  const tracked = staged.flatMap((line): readonly GitFile[] => {
    const [, content, name] = /^\d+ ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
    return content !== undefined && name !== undefined && SCRIPT.test(name) ? [{ name, content }] : [];
  });
  const present = [...tracked.map(({ name }) => name), ...others.filter((name) => SCRIPT.test(name))];
  const files = { removed: [...removed.values()], tracked, present };
  const gone = files.removed.filter((file) => !isStillThere(file, files, worktree));
  return { ...files, removed: gone, hashes: await readHashes(runGit, worktree, { ...files, removed: gone }) };
}

/** Whether the file still exists, such as in another folder, with another name, or ignored by git. */
function isStillThere(
  { name, content }: GitFile,
  { tracked, present }: Pick<MigrationFiles, 'tracked' | 'present'>,
  worktree: string,
): boolean {
  const ending = folderAndName(name);
  return (
    tracked.some((each) => each.content === content) ||
    present.some((each) => folderAndName(each) === ending) ||
    existsSync(path.join(worktree, name))
  );
}

/** Returns the end of a path, with the folder because in some layouts its name is that of the migration. */
const folderAndName = (name: string): string => name.split('/').slice(-2).join('/');

async function readHashes(
  runGit: RunGit,
  worktree: string,
  { removed, tracked }: Pick<MigrationFiles, 'removed' | 'tracked'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folders = new Set(removed.map(({ name }) => path.posix.dirname(name)));
  const hashes = new Map<string, string[]>();
  const add = (name: string, text: string) => {
    const hash = createHash('sha256').update(text).digest('hex');
    hashes.set(hash, [...(hashes.get(hash) ?? []), name]);
  };
  for (const { name, content } of removed) {
    if (!name.endsWith('.sql')) continue;
    const { code, stdout } = await runGit(worktree, 'cat-file', 'blob', content);
    if (code === 0) add(name, stdout);
  }
  for (const { name } of tracked) {
    if (!name.endsWith('.sql') || !folders.has(path.posix.dirname(name))) continue;
    const text = await readUserText(path.join(worktree, name), worktree);
    if (text !== undefined) add(name, text);
  }
  return hashes;
}

/**
 * @param names the names of files that git has
 * @returns whether they have the same text in every commit that HEAD had since a time (in milliseconds since 1970), and in the
 * working tree
 */
export async function areUnchangedSince(
  runGit: RunGit,
  { worktree, gitDir }: GitFolder,
  names: ReadonlySet<string>,
  time: number,
): Promise<boolean> {
  const commits = await readCommitsSince({ gitDir }, time);
  if (commits === undefined || commits.size > MAX_COMMITS) return false;
  for (const commit of commits) {
    const options = ['--name-only', '--no-renames', '--diff-filter=MD', '-z'];
    const { code, stdout } = await runGit(worktree, 'diff', ...options, commit, '--');
    if (code !== 0 || stdout.split('\0').some((name) => names.has(name))) return false;
  }
  return true;
}
