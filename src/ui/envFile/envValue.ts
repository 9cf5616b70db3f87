/** Reads and replaces the value of a variable without questions, for a file that follows git. */
import { readFile } from 'node:fs/promises';
import { Uri } from 'vscode';
import { getVariable, setVariable } from '../../model/connection/dotEnv.ts';
import type { EnvValue } from '../../model/workBranch/workFolder.ts';
import type { EnvVariable } from './envFile.ts';
import { changeFile, unsaved, type FileChange } from './fileChange.ts';
import { realFile } from './realFile.ts';

/** A file that can't be read, or that is a link out of the workspace, has no value. */
export async function readEnv({ uri, name }: EnvVariable): Promise<EnvValue> {
  const { path } = await realFile(uri.fsPath).catch(() => ({ path: undefined }));
  const value = path === undefined ? undefined : await readValue(path, name);
  const isUnsaved = path !== undefined && unsaved([uri, Uri.file(path)]).length > 0;
  const file = value === undefined || value === '' ? 'none' : isUnsaved ? 'unsaved' : 'writable';
  return { file, value, path: path ?? uri.fsPath };
}

/** @returns undefined if the file can't be read or doesn't have the variable */
export async function readValue(file: string, name: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : getVariable(text, name);
}

/** @returns undefined if the value has changed since. @throws {Error} for example in an untrusted workspace */
export async function replaceEnv(
  { uri, name }: EnvVariable,
  before: string,
  after: string,
): Promise<FileChange | undefined> {
  const { path } = await realFile(uri.fsPath);
  if ((await readValue(path, name)) !== before) return undefined;
  // Another program may have written in the meantime.
  return await changeFile(Uri.file(path), (text) =>
    getVariable(text, name) === before ? setVariable(text, name, after) : { start: 0, end: 0, text: '' },
  );
}
