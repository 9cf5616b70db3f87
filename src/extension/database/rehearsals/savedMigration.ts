/** What is rehearsed when a migration is saved: its file, as its tool runs it, after those before it that aren't applied either. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { filesNotedAs } from '../../../migrations/filesNotedAs.ts';
import { fileExists } from '../../../migrations/shownTools.ts';
import { loadSqlFiles, type SqlFile, type SqlFiles } from '../../../migrations/sqlFiles.ts';
import type { AppliedMigrations } from '../sql/appliedMigrations.ts';

/**
 * @param isKnown whether the user has rehearsed the file, so that it may be in any folder
 * @returns the files of its folder. @throws {Error} if only its tool can run it
 */
export async function loadMigrations(file: string, isKnown: boolean): Promise<SqlFiles | undefined> {
  const folders = [path.dirname(file), path.dirname(path.dirname(file))];
  for (const folder of folders) {
    // The search ends at the folder of a project, which may have many other files.
    if (
      (await fileExists(path.join(folder, 'package.json'))) ||
      (await fileExists(path.join(folder, '.git')))
    )
      break;
    // A folder that isn't for one tool is refused.
    const found = await loadSqlFiles(folder).catch(() => undefined);
    if (found?.tool !== undefined && found.files.some((each) => each.file === file)) return found;
  }
  return isKnown ? await loadSqlFiles(file) : undefined;
}

/**
 * Returns the files that would run. If the database notes none of them, that is only the file itself: what was applied isn't known.
 * @returns undefined if the file is applied
 */
export function pendingFiles(
  files: readonly SqlFile[],
  file: string,
  tables: readonly AppliedMigrations[],
): readonly SqlFile[] | undefined {
  const names = new Map(files.map((each) => [each.file.replaceAll(path.sep, '/'), each]));
  const hashes = Map.groupBy(names.keys(), (name) => sha256(names.get(name)?.text ?? ''));
  const notes = tables.flatMap(({ rows }) => rows.filter(({ isApplied }) => isApplied));
  const applied = new Set(
    notes.flatMap((note) =>
      filesNotedAs(note.name, [...names.keys()], hashes).map((name) => names.get(name)),
    ),
  );
  const index = files.findIndex((each) => each.file === file);
  const pending = files.slice(applied.size === 0 ? index : 0, index + 1).filter((each) => !applied.has(each));
  return pending.at(-1)?.file === file ? pending : undefined;
}

/** @param text the text, with a character for each byte */
const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');
