/**
 * Rehearse Migration: runs a SQL file, a folder of migrations or a command on a copy of a branch, and shows what it does to
 * others and to the data.
 */
import { commands, l10n, Uri, workspace } from 'vscode';
import type { AssumedVariables } from '../../../api/addresses/addressGroups.ts';
import { BILLED_LIFETIME } from '../../../rehearsal/copySettings.ts';
import type { RehearsedSteps } from '../../../rehearsal/rehearse.ts';
import type { RehearsalReport } from '../../../rehearsal/report.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { BranchIds } from '../../account/refs.ts';
import { explainExpiry } from '../../branches/commands/expiry.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { envFileBranch } from '../../commandSupport/envFileBranch.ts';
import { onlyProject, requirePrimary } from '../../commandSupport/pickers.ts';
import { askForLogin } from '../../connection/commands/login.ts';
import { runFile } from './runSqlFile.ts';
import { failureText } from '../ui/fileOutput.ts';
import { asBranchNode } from '../../inventory/nodes.ts';
import { approveChange } from '../../operations/ui/approval.ts';
import { announce } from '../../window/ui/announce.ts';
import { withCancel } from '../../window/ui/input/dialogs.ts';
import { durationText } from '../../window/ui/timeText.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import type { RehearsedCopy } from '../rehearsals/rehearseOnCopy.ts';
import { runMigrationCommand, type CommandOutput } from '../rehearsals/runCommand.ts';
import { rehearsalText, verdictSentences } from '../ui/rehearsalText.ts';
import { chooseMigration, type ChosenMigration } from './migrationQuestion.ts';

/** The most characters of the output that are shown. */
const MAX_OUTPUT = 4000;

export const rehearseMigration: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't rehearse the migration");
  requireTrust();
  const connection = context.session.requireConnection();
  const title = l10n.t('Rehearse Migration');
  const migration = await chooseMigration(title, argument);
  if (migration === undefined) return;
  const branch = await pickBranch(context, title, asBranchNode(argument), undefined, {
    preferred: await proposedBranch(context, migration),
    placeholder: l10n.t('Select the branch to copy for the rehearsal'),
    ofProject: l10n.t('Select the project with the branch to copy for the rehearsal'),
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
  const seen: SeenOutput = { text: '', assumed: undefined };
  const parent = { projectId, branchId };
  const report = await withCancel(
    l10n.t('Rehearsing {0} on a copy of {1}', migration.name, fullName),
    ({ signal }) =>
      rehearseOnNewCopy(context, connection, { migration, parent, database: login.database, seen }, signal),
  );
  if (report !== undefined) await showReport(context, report, { migration, branch: name, seen });
};

/**
 * Returns the protected branch of the project, if there is one, because users ask what a migration does to production. Otherwise,
 * it returns the branch of the env file.
 */
async function proposedBranch(
  context: CommandContext,
  { uri }: ChosenMigration,
): Promise<BranchIds | undefined> {
  const current = envFileBranch(context, uri);
  const projectId = current?.projectId ?? (await onlyProject(context));
  const list = projectId === undefined ? undefined : await context.inventory.branches.refresh(projectId);
  const production = [...(list?.branches.values() ?? [])].find((branch) => branch.protected === true);
  return projectId === undefined || production === undefined
    ? current
    : { projectId, branchId: production.id };
}

interface AskedRehearsal extends Pick<PickedBranch, 'projectId' | 'name' | 'fullName'> {
  readonly migration: ChosenMigration;
}

/** The sessions, one a window, in which the user has approved a rehearsal and so knows what happens outside of the copy. */
const informed = new WeakSet<CommandContext['session']>();

/**
 * Asks before a rehearsal, and says what happens outside of the copy. A billed account is always asked, with the cost; a local one
 * only until the first approval.
 */
async function approveRehearsal(
  { guards, session }: Pick<CommandContext, 'guards' | 'session'>,
  { initialConnection }: CommandRun,
  { migration, projectId, name, fullName }: AskedRehearsal,
): Promise<boolean> {
  const isBilled = !session.requireConnection().isLocal;
  const outside = l10n.t(
    'The copy is deleted afterwards. But everything that the migration does outside of this database is done for real, such as requests to other services, or changes by dblink and foreign tables.',
  );
  const cost = l10n.t(
    'The rehearsal creates a branch with a compute, and a second such branch if the migration may lose data. They cost as much as other branches. They are deleted at the end, or expire after {0} at the latest.',
    durationText(BILLED_LIFETIME / 1000),
  );
  const change = {
    projectId,
    name,
    question: l10n.t('Rehearse {0} on a copy of {1}?', migration.name, fullName),
    detail: isBilled ? `${cost}\n\n${outside}` : outside,
    button: l10n.t('Rehearse'),
    isConfirmed: !isBilled && informed.has(session),
  };
  const isApproved = await approveChange(guards, change, initialConnection);
  if (isApproved) informed.add(session);
  return isApproved;
}

interface RehearsedMigration {
  readonly migration: ChosenMigration;
  readonly parent: { readonly projectId: string; readonly branchId: string };
  readonly database: string;
  readonly seen: SeenOutput;
}

/** What was seen of the runs, apart from the report. */
interface SeenOutput {
  /** The end of the output. */
  text: string;
  /** The variables that a command got with other values although nothing says that they lead to Postgres. */
  assumed: AssumedVariables | undefined;
}

/** Returns undefined if the user canceled. */
async function rehearseOnNewCopy(
  context: CommandContext,
  connection: AccountConnection,
  { migration, parent, database, seen }: RehearsedMigration,
  signal: AbortSignal,
): Promise<RehearsalReport | undefined> {
  // This import loads the driver of Postgres, which most windows never need.
  const { rehearseOnCopy } = await import('../rehearsals/rehearseOnCopy.ts');
  const output: Output = {
    write: (text) => void (seen.text = (seen.text + text).slice(-MAX_OUTPUT)),
    noteAssumed: (variables) => void (seen.assumed = variables),
    signal,
  };
  try {
    const steps = await createSteps(context, migration, output);
    return await rehearseOnCopy(context, connection, { parent, database, ...steps }, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** What receives the output of a run, and the signal that ends the run. */
interface Output extends CommandOutput {
  readonly signal: AbortSignal;
}

async function createSteps(
  context: CommandContext,
  { kind, name, uri }: ChosenMigration,
  output: Output,
): Promise<RehearsedSteps<RehearsedCopy>> {
  const { write, signal } = output;
  if (kind === 'file') {
    const stop = { signal, kill: signal };
    const run = async ({ login }: RehearsedCopy) =>
      exitCodeOf(runFile(context, { login, path: uri.fsPath }, write, stop), name, output);
    return { run };
  }
  const { loadMigrationSteps } = await import('../../../rehearsal/migrationSteps.ts');
  const folder = (workspace.getWorkspaceFolder(uri)?.uri ?? uri).fsPath;
  const run = async (command: string, { url }: RehearsedCopy) =>
    exitCodeOf(runMigrationCommand({ command, folder, url }, output, signal), command, output);
  const migration = kind === 'folder' ? { folder: uri.fsPath } : { command: name };
  return await loadMigrationSteps(migration, { run, write }, signal);
}

/**
 * Waits until a run ends, and writes why it has failed.
 * @returns the exit code; 1 if there is none
 * @throws {Error} only if the run was canceled
 */
async function exitCodeOf(
  running: Promise<number | undefined>,
  name: string,
  { write, signal }: Output,
): Promise<number> {
  const code = await running.catch((error: unknown) => {
    write(`${failureText(error, name)}\n`);
    return undefined;
  });
  signal.throwIfAborted();
  return code ?? 1;
}

interface Rehearsed {
  readonly migration: ChosenMigration;
  readonly branch: string;
  readonly seen: SeenOutput;
}

/** Opens the report in the Markdown preview, which shows its tables, and announces the verdict. */
async function showReport(
  { rehearsals }: CommandContext,
  report: RehearsalReport,
  { migration: { name }, branch, seen: { text: output, assumed } }: Rehearsed,
): Promise<void> {
  const place = { name, branch, output: output.trim(), assumed, time: new Date() };
  const text = rehearsalText(report, place);
  const uri = Uri.from(rehearsals.add(`${name} · ${branch}`, text));
  await commands.executeCommand('vscode.openWith', uri, 'vscode.markdown.preview.editor', { preview: false });
  announce(verdictSentences(report)[0] ?? '', report.verdict === 'safe' ? 'check' : 'warning');
}
