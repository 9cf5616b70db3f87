/** Run File on Branch: gives a SQL file to psql, or to the driver if psql isn't installed, in a terminal. */
import path from 'node:path';
import { l10n, ThemeIcon, Uri, window as editors, workspace } from 'vscode';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { findPsqlProgram } from '../../connection/commands/psql.ts';
import { passFileLine } from '../../connection/serviceFile.ts';
import { approveChange, requireWritable } from '../../operations/ui/approval.ts';
import { envFileBranch } from '../../commandSupport/envFileBranch.ts';
import { prepareDatabase, type PreparedDatabase } from './prepareDatabase.ts';
import { announce } from '../../window/ui/announce.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { window } from '../../window/ui/window.ts';
import type { ScriptResult } from '../../../base/sql/runScript.ts';
import type { StopSignals } from '../sql/runFile.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { canceledText, failureText, resultText } from '../ui/fileOutput.ts';
import { SqlFileTerminal } from '../ui/fileTerminal.ts';

export const runSqlFile: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't run the file");
  requireTrust();
  const { accountId: account } = context.session.requireConnection();
  const title = l10n.t('Run File on Branch');
  const uri = await saveAndFindFile(argument);
  if (uri === undefined) return;
  const preferred = envFileBranch(context, uri);
  const picked = await pickBranch(context, title, undefined, undefined, { preferred });
  if (picked === undefined) return;
  const { projectId, branchId, name: branchName, fullName } = picked;
  requireWritable(context.guards, { projectId, branchId });
  const branch = { account, projectId, branchId };
  const target = await prepareDatabase(context, { title, branch, mayWake: true, purpose: 'write' });
  if (target === undefined) return;
  const file = { path: uri.fsPath, name: path.basename(uri.fsPath) };
  const question = l10n.t('Run {0} on {1}?', file.name, fullName);
  const change = { projectId, branchId, name: branchName, question, button: l10n.t('Run') };
  if (!(await approveChange(context.guards, change, run.initialConnection))) return;
  context.markers.add(branch, { kind: 'program', text: file.name });
  const name = `${file.name} · ${target.project} / ${branchName}`;
  const pty = new SqlFileTerminal(async (write, stop) => runIn(context, { target, file }, write, stop));
  window.createPseudoterminal({ name, iconPath: new ThemeIcon('database'), pty }).show();
};

/** Returns the file of the argument or of the active editor, after its changes were saved. @returns undefined if the user canceled */
export async function saveAndFindFile(argument: unknown): Promise<Uri | undefined> {
  const uri = argument instanceof Uri ? argument : editors.activeTextEditor?.document.uri;
  if (uri === undefined) throw new Error(l10n.t('Open a SQL file first.'));
  const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  const saved = open?.isDirty === true || uri.scheme === 'untitled' ? await workspace.save(uri) : uri;
  if (saved !== undefined && saved.scheme !== 'file')
    throw new Error(l10n.t('Save the document to a folder on disk first.'));
  return saved;
}

interface FileRun {
  readonly target: PreparedDatabase;
  readonly file: { readonly path: string; readonly name: string };
}

/** Never rejects. @returns how the run ended */
async function runIn(
  context: CommandContext,
  { target, file }: FileRun,
  write: (text: string) => void,
  stop: StopSignals,
): Promise<string> {
  const { login, project, branchName } = target;
  write(`${file.path}\n${[project, branchName, login.database].join(' / ')}\n\n`);
  const names = [file.name, branchName] as const;
  const failed = l10n.t('{0} failed on {1}', ...names);
  try {
    const code = await runFile(context, { login, path: file.path }, write, stop);
    const isCanceled = code !== 0 && stop.signal.aborted;
    if (isCanceled) return canceledText();
    const text = code === 0 ? l10n.t('Ran {0} on {1}', ...names) : failed;
    announce(text, code === 0 ? 'check' : 'error');
    return code === 0 || code === undefined ? text : l10n.t('{0}: psql ended with {1}', text, code);
  } catch (error) {
    if (stop.signal.aborted) return canceledText();
    announce(failed, 'error');
    write(`${failureText(error, file.name)}\n`);
    return failed;
  }
}

interface LoginFile {
  readonly login: BranchLogin;
  readonly path: string;
}

/**
 * Runs the file by psql, or by the driver of Postgres if psql isn't installed.
 * @returns the exit code of psql, also if it fails; undefined if a signal ended it; 0 for the driver
 * @throws {Error} if the file fails in the driver
 */
export async function runFile(
  { config, passFiles }: CommandContext,
  { login, path: file }: LoginFile,
  write: (text: string) => void,
  stop: StopSignals,
): Promise<number | undefined> {
  const program = findPsqlProgram(config);
  // This import loads the driver of Postgres, which most windows never need.
  const { runFileByDriver, runFileByPsql } = await import('../sql/runFile.ts');
  if (program !== undefined)
    return await passFiles.withPassFile(passFileLine(login), async (passFile) =>
      runFileByPsql({ program, login, file, passFile }, write, stop),
    );
  const onResult = (result: ScriptResult) => write(resultText(result));
  await runFileByDriver(login, file, { onResult, onText: write }, stop.signal);
  return 0;
}
