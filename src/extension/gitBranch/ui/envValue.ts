/** Reads and replaces the value of a variable without questions, for a file that follows git. */
import { l10n, Uri } from 'vscode';
import { readUserFile } from '../../../base/files.ts';
import { setVariables, type VariableChange } from '../../envFile/dotEnv.ts';
import type { TargetDependencies } from '../findTarget.ts';
import { findRelated, type RelatedVariables } from '../relatedVariables.ts';
import { readVariable, type EnvValue } from '../envVariable.ts';
import type { EnvVariable } from '../../envFile/ui/envFile.ts';
import { changeTextFile, unsaved, type FileChange } from '../../envFile/ui/fileChange.ts';
import { workspacePaths } from '../../envFile/ui/realFile.ts';
import type { BranchRef } from '../../account/refs.ts';

export async function readEnv({ uri, name }: EnvVariable): Promise<EnvValue> {
  const { path, value, problem } = await readVariable(uri.fsPath, name, workspacePaths());
  const isUnsaved = unsaved([uri, Uri.file(path)]).length > 0;
  const file = problem ?? (value === undefined || value === '' ? 'none' : isUnsaved ? 'unsaved' : 'writable');
  return { file, value, path };
}

/** The variables that point to the same branch as this one, and follow it to another branch. */
export async function findRelatedVariables(
  deps: TargetDependencies,
  { uri, name }: EnvVariable,
  target: BranchRef,
): Promise<RelatedVariables> {
  const { bytes } = await readUserFile(uri.fsPath, workspacePaths());
  return await findRelated(deps, bytes?.toString() ?? '', name, target);
}

/** @returns undefined if a value has changed since. @throws {Error} for example in an untrusted workspace */
export async function replaceEnv(
  { uri, name }: EnvVariable,
  changes: readonly VariableChange[],
): Promise<FileChange | undefined> {
  const { path } = await readVariable(uri.fsPath, name, workspacePaths());
  return await changeTextFile(Uri.file(path), (text) => {
    const changed = setVariables(text, changes);
    if (changed?.isRequoted === true)
      throw new Error(l10n.t("The value of {0} can't be changed in place.", name));
    return changed?.text;
  });
}
