/** Reads and replaces the value of a variable without questions, for a file that follows git. */
import { l10n, Uri } from 'vscode';
import { getVariable, setVariable } from '../../model/connection/dotEnv.ts';
import { readVariable, type EnvValue } from '../../model/workBranch/envVariable.ts';
import type { EnvVariable } from './envFile.ts';
import { changeFile, unsaved, type FileChange } from './fileChange.ts';
import { workspacePaths } from './realFile.ts';

export async function readEnv({ uri, name }: EnvVariable): Promise<EnvValue> {
  const { path, value, problem } = await readVariable(uri.fsPath, name, workspacePaths());
  const isUnsaved = unsaved([uri, Uri.file(path)]).length > 0;
  const file = problem ?? (value === undefined || value === '' ? 'none' : isUnsaved ? 'unsaved' : 'writable');
  return { file, value, path };
}

/** @returns undefined if the value has changed since. @throws {Error} for example in an untrusted workspace */
export async function replaceEnv(
  { uri, name }: EnvVariable,
  before: string,
  after: string,
): Promise<FileChange | undefined> {
  const { path } = await readVariable(uri.fsPath, name, workspacePaths());
  return await changeFile(Uri.file(path), (text) => {
    if (getVariable(text, name) !== before) return undefined;
    const change = setVariable(text, name, after);
    if (change.isRequoted) throw new Error(l10n.t("The value of {0} can't be changed in place.", name));
    return change;
  });
}
