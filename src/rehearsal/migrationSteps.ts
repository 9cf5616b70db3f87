/** Finds out what a rehearsal runs: a command or the files of a folder, and the step that takes the migration back. */
import path from 'node:path';
import { downCommandOf } from '../migrations/migrationTools.ts';
import type { SkippedStatement } from '../migrations/publicService.ts';
import { runLoadedFiles, type FileRun } from '../migrations/runSqlFiles.ts';
import { loadSqlFiles, type SqlFiles } from '../migrations/sqlFiles.ts';
import type { BranchCopy } from './branchCopy.ts';
import type { RehearsedSteps } from './rehearse.ts';

/** What the user wants to rehearse. */
export interface MigrationToRehearse {
  /** The command of the migration. Undefined to apply the folder, by the command of its tool or file by file. */
  readonly command?: string | undefined;
  /** The folder with the files of the migration, which the report names. */
  readonly folder?: string | undefined;
  /** The command that takes all of the migration back; undefined for the down step of its tool, if the tool is known. */
  readonly down?: string | undefined;
}

interface Runner<Copy> {
  /** Runs a command on the branch. @returns its exit code */
  run(this: void, command: string, copy: Copy): Promise<number>;
  /** Receives why a file has failed. */
  write(this: void, text: string): void;
}

/** Finds out what a rehearsal runs. @throws {Error} if the order of the files, or which to run, would be a guess */
export async function loadMigrationSteps<Copy extends BranchCopy>(
  { command: given, folder, down }: MigrationToRehearse,
  { run, write }: Runner<Copy>,
  signal?: AbortSignal,
): Promise<RehearsedSteps<Copy>> {
  const sql = folder === undefined ? undefined : await loadSqlFiles(folder);
  // If the tool of the folder is known, its command runs, because the tool knows which files are pending.
  const command = given ?? sql?.tool?.command;
  const tool = down === undefined && command !== undefined ? downCommandOf(command) : undefined;
  const back = down ?? tool?.command;
  const relativeTo = (file: string) => path.relative(folder ?? '', file);
  const skipped: SkippedStatement[] = [];
  const onSkip = (each: SkippedStatement) => void skipped.push({ ...each, file: relativeTo(each.file) });
  return {
    skipped,
    files: sql?.files.map((each) => ({ ...each, file: relativeTo(each.file) })),
    run: async (copy) =>
      command === undefined ? runSqlFolder(sql, copy, { write, onSkip, signal }) : run(command, copy),
    down: back === undefined ? undefined : { tool, run: async (copy) => run(back, copy) },
  };
}

/** Applies the files of a folder. @returns the exit code that a command would have: 1 after an error */
async function runSqlFolder(
  sql: SqlFiles | undefined,
  { url }: BranchCopy,
  { write, onSkip, signal }: Pick<Runner<BranchCopy>, 'write'> & FileRun,
): Promise<number> {
  try {
    if (sql !== undefined) await runLoadedFiles(sql, url, { onSkip, signal });
    return 0;
  } catch (error) {
    signal?.throwIfAborted();
    write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
