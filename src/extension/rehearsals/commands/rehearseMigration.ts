/** Rehearse Migration: runs a SQL file or a command on a copy of a branch, and shows what it does to others and to the data. */
import { commands, l10n, Uri } from 'vscode';
import { downCommandOf } from '../../../migrations/migrationTools.ts';
import type { Report } from '../../../rehearsal/report.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import { explainExpiry } from '../../branches/commands/expiry.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, Run } from '../../commandSupport/context.ts';
import { envFileBranch } from '../../commandSupport/envFileBranch.ts';
import { requirePrimary } from '../../commandSupport/pickers.ts';
import { askForLogin } from '../../connection/commands/login.ts';
import { runFile } from '../../database/commands/runSqlFile.ts';
import { asBranchNode } from '../../inventory/nodes.ts';
import { approve } from '../../operations/ui/approval.ts';
import { announce } from '../../window/ui/announce.ts';
import { withCancel } from '../../window/ui/input/dialogs.ts';
import { requireTrust } from '../../window/ui/trust.ts';
import type { RehearsedCopy } from '../rehearseOnCopy.ts';
import { runCommand } from '../runCommand.ts';
import { rehearsalText, verdictSentences } from '../ui/rehearsalText.ts';
import { chooseMigration, type Migration } from './migrationQuestion.ts';

/** Characters of the output that are shown. */
const MAX_OUTPUT = 4000;

export const rehearseMigration: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't rehearse the migration");
  requireTrust();
  const connection = context.session.requireConnection();
  if (!connection.isLocal)
    throw new Error(
      l10n.t(
        'Only the local service can rehearse, because it sees each statement. Restore a dump of your data there, and run “Switch Account…”.',
      ),
    );
  const title = l10n.t('Rehearse Migration');
  const migration = await chooseMigration(title, argument);
  if (migration === undefined) return;
  const branch = await pickBranch(context, title, asBranchNode(argument), undefined, {
    preferred: envFileBranch(context, migration.uri),
    placeholder: l10n.t('Rehearse on a copy of which branch?'),
    ofProject: l10n.t('Rehearse on a copy of a branch of which project?'),
  });
  if (branch === undefined || (await explainExpiry(branch))) return;
  const { projectId, branchId, name, fullName } = branch;
  const compute = await requirePrimary(context, branch);
  const login = await askForLogin(context, { title, compute, scope: undefined, allowsPooled: false });
  if (
    login === undefined ||
    !(await approveRehearsal(context, run, { migration, projectId, name, fullName }))
  )
    return;
  if (migration.kind === 'file') context.rehearsals.files.add(migration.uri.fsPath);
  const seen = { text: '' };
  const parent = { projectId, branchId };
  const report = await withCancel(
    l10n.t('Rehearsing {0} on a copy of {1}', migration.name, fullName),
    ({ signal }) =>
      rehearseOn(context, connection, { migration, parent, database: login.database, seen }, signal),
  );
  if (report !== undefined) await show(context, report, { migration, branch: name, output: seen.text });
};

interface AskedRehearsal extends Pick<PickedBranch, 'projectId' | 'name' | 'fullName'> {
  readonly migration: Migration;
}

/** The windows whose users know it. */
const told = new WeakSet<CommandContext['session']>();

/** Says once in a window what the copy doesn't keep inside. */
async function approveRehearsal(
  { guards, session }: CommandContext,
  { initialConnection }: Run,
  { migration, projectId, name, fullName }: AskedRehearsal,
): Promise<boolean> {
  const change = {
    projectId,
    name,
    question: l10n.t('Rehearse {0} on a copy of {1}?', migration.name, fullName),
    detail: l10n.t(
      'The copy is deleted afterwards. But everything that the migration does outside of this database is done for real, such as requests to other services, or changes by dblink and foreign tables.',
    ),
    button: l10n.t('Rehearse'),
    isConfirmed: told.has(session),
  };
  const isApproved = await approve(guards, change, initialConnection);
  if (isApproved) told.add(session);
  return isApproved;
}

interface RehearsedMigration {
  readonly migration: Migration;
  readonly parent: { readonly projectId: string; readonly branchId: string };
  readonly database: string;
  /** Receives the end of the output. */
  readonly seen: { text: string };
}

/** @returns undefined if the user canceled */
async function rehearseOn(
  context: CommandContext,
  connection: AccountConnection,
  { migration, parent, database, seen }: RehearsedMigration,
  signal: AbortSignal,
): Promise<Report | undefined> {
  // It loads the driver.
  const { rehearseOnCopy } = await import('../rehearseOnCopy.ts');
  const write = (text: string) => (seen.text = (seen.text + text).slice(-MAX_OUTPUT));
  try {
    const run = async (copy: RehearsedCopy) => runOn(context, { migration, copy }, write, signal);
    const tool = migration.kind === 'command' ? downCommandOf(migration.name) : undefined;
    const down = tool && {
      tool,
      run: async (copy: RehearsedCopy) =>
        runOn(context, { migration: { ...migration, name: tool.command }, copy }, write, signal),
    };
    const historySeconds =
      context.inventory.project(parent.projectId)?.history_retention_seconds ?? undefined;
    const rehearsal = { parent, database, historySeconds, run, down };
    return await rehearseOnCopy(context, connection, rehearsal, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** @returns the exit code. @throws {Error} only if it was canceled */
async function runOn(
  context: CommandContext,
  { migration, copy }: { readonly migration: Migration; readonly copy: RehearsedCopy },
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const place = migration.uri.fsPath;
  const running =
    migration.kind === 'file'
      ? runFile(context, { login: copy.login, path: place }, write, { signal, kill: signal })
      : runCommand({ command: migration.name, folder: place, url: copy.url }, write, signal);
  const code = await running.catch(async (error: unknown) => {
    const { failureText } = await import('../../database/ui/fileOutput.ts');
    write(`${failureText(error, migration.name)}\n`);
    return undefined;
  });
  signal.throwIfAborted();
  return code ?? 1;
}

interface Rehearsed {
  readonly migration: Migration;
  readonly branch: string;
  readonly output: string;
}

/** Opens a preview, which shows tables. */
async function show(
  { rehearsals }: CommandContext,
  report: Report,
  { migration: { name }, branch, output }: Rehearsed,
): Promise<void> {
  const text = rehearsalText(report, { name, branch, output: output.trim(), time: new Date() });
  const uri = Uri.from(rehearsals.add(`${name} · ${branch}`, text));
  await commands.executeCommand('vscode.openWith', uri, 'vscode.markdown.preview.editor', { preview: false });
  announce(verdictSentences(report)[0] ?? '', report.verdict === 'safe' ? 'check' : 'warning');
}
