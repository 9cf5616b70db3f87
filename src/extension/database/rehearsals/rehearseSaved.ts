/** Rehearses a migration that was saved, on a copy of the branch of its folder's env file, if that is local and nothing protects it. */
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import type { SkippedStatement } from '../../../migrations/publicService.ts';
import { runLoadedFiles } from '../../../migrations/runSqlFiles.ts';
import { reasonStatements } from '../../../rehearsal/reasonStatement.ts';
import type { RehearsalReport } from '../../../rehearsal/report.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { BranchRef } from '../../account/refs.ts';
import type { Session } from '../../account/session.ts';
import { findReaderLogin } from '../../connection/branchLogin.ts';
import type { WorkFolder } from '../../gitBranch/workFolder.ts';
import { readAppliedMigrations } from '../sql/appliedMigrations.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { ChangeGuards } from '../../operations/guards.ts';
import { rehearseOnCopy } from './rehearseOnCopy.ts';
import { statementRanges, type ScriptPosition } from '../../../rehearsal/statementRanges.ts';
import { loadMigrations, pendingFiles } from './savedMigration.ts';

type CopyDependencies = Parameters<typeof rehearseOnCopy>[0];

export interface SavingDependencies extends CopyDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: ChangeGuards;
}

/** What the rehearsal of a saved file has found. */
export interface SavedRehearsal {
  readonly report: RehearsalReport;
  /** Where the statement of each reason is in the file, if it is known. */
  readonly places: readonly (readonly [start: ScriptPosition, end: ScriptPosition] | undefined)[];
  /** Why the migration has failed, if Postgres hasn't given the reason. */
  readonly failure: string | undefined;
}

/** A file that was saved. */
export interface FileToRehearse {
  readonly work: WorkFolder;
  readonly file: string;
  /** Whether the user has rehearsed the file. */
  readonly isKnown: boolean;
}

/** Returns undefined if the file isn't a migration that could be applied to the branch of its folder. @throws {Error} */
export async function rehearseSaved(
  deps: SavingDependencies,
  { work, file, isKnown }: FileToRehearse,
  signal: AbortSignal,
): Promise<SavedRehearsal | undefined> {
  const found = await loadMigrations(file, isKnown);
  const target = found && (await findTarget(deps, work));
  if (found === undefined || target === undefined) return undefined;
  const { connection, branch, login } = target;
  const reader = await findReaderLogin(connection, branch, login, signal);
  const tables = reader && (await readAppliedMigrations(reader, signal));
  const files = pendingFiles(found.files, file, tables ?? []);
  const saved = files?.at(-1);
  if (files === undefined || saved === undefined) return undefined;
  let failure: string | undefined;
  const skipped: SkippedStatement[] = [];
  const onSkip = (each: SkippedStatement) => void skipped.push(each);
  const run = async ({ url }: { readonly url: string }) => {
    try {
      await runLoadedFiles({ ...found, files }, url, { onSkip, signal });
      return 0;
    } catch (error) {
      signal.throwIfAborted();
      failure = error instanceof Error ? error.message : String(error);
      return 1;
    }
  };
  const rehearsal = { parent: branch, database: login.database, run, skipped };
  const report = await rehearseOnCopy(deps, connection, rehearsal, signal);
  const ranges = statementRanges(saved, report.statements);
  const places = report.reasons.map((reason) => {
    const [statement, another] = reasonStatements(report, reason);
    return statement === undefined || another !== undefined ? undefined : ranges.get(statement);
  });
  const isKnownToPostgres = report.statements.some(({ error }) => error !== undefined);
  return { report, places, failure: isKnownToPostgres ? undefined : failure };
}

interface Target {
  readonly connection: AccountConnection;
  readonly branch: BranchRef;
  readonly login: { readonly host: string; readonly role: string; readonly database: string };
}

/** Returns the branch of the env file. Nothing is asked, so one that is protected, marked or not local is left alone. */
async function findTarget(
  { session: { connection }, inventory, guards }: SavingDependencies,
  work: WorkFolder,
): Promise<Target | undefined> {
  await work.refresh();
  const { current: branch, host } = work.state;
  if (connection?.isLocal !== true || branch === undefined || branch.isDeleted) return undefined;
  const login = parseDatabaseUrl((await work.env.read()).value ?? '');
  if (branch.account !== connection.accountId || login === undefined || login.host !== host) return undefined;
  await guards.refreshProtection(branch);
  if (!guards.isProtectionCached(branch) || guards.cachedMark(branch) !== undefined) return undefined;
  // A branch that expires can't have a copy.
  const record = inventory.branches.get(branch.projectId, branch.branchId);
  return record === undefined || record.expires_at ? undefined : { connection, branch, login };
}
