/** The variable with a folder's connection string, in its env file. The settings name both, and may change. */
import path from 'node:path';
import { l10n, Uri, workspace, type WorkspaceFolder } from 'vscode';
import { readUserFile } from '../../../base/files.ts';
import type { Config } from '../../window/ui/config.ts';
import { getVariable, setVariables, type VariableChange } from '../dotEnv.ts';
import type { EnvChange, EnvValue, EnvVariable, ReadVariable } from '../envVariable.ts';
import { changeTextFile, undoChanges, unsavedDocuments } from './fileChange.ts';
import { workspacePaths } from '../../window/ui/workspace.ts';

/** Reads and replaces the variable of a folder's env file. */
export class FolderEnv implements EnvVariable {
  readonly #config: Pick<Config, 'envFileSettings'>;
  readonly #folder: Uri;

  constructor(config: Pick<Config, 'envFileSettings'>, { uri }: Pick<WorkspaceFolder, 'uri'>) {
    this.#config = config;
    this.#folder = uri;
  }

  get file(): string {
    return this.#config.envFileSettings(this.#folder).file;
  }

  get name(): string {
    return this.#config.envFileSettings(this.#folder).variable;
  }

  get uri(): Uri {
    return Uri.joinPath(this.#folder, this.file);
  }

  get isTrusted(): boolean {
    return workspace.isTrusted;
  }

  async read(): Promise<EnvValue> {
    const { problem, ...read } = await this.readIn(this.#folder.fsPath, workspacePaths());
    const isUnsaved = unsavedDocuments([this.uri, Uri.file(read.path)]).length > 0;
    const file = problem ?? (read.value ? (isUnsaved ? 'unsaved' : 'writable') : 'none');
    return { ...read, file };
  }

  async readIn(
    folder: string,
    folders: readonly string[],
  ): Promise<ReadVariable & { readonly text: string }> {
    const { path: file, bytes, problem } = await readUserFile(path.join(folder, this.file), folders);
    const text = bytes?.toString() ?? '';
    return { path: file, text, value: getVariable(text, this.name), problem };
  }

  async replace(changes: readonly VariableChange[]): Promise<EnvChange | undefined> {
    const written = await changeTextFile(Uri.file((await this.read()).path), (text) => {
      const changed = setVariables(text, changes);
      if (changed?.isRequoted === true)
        throw new Error(l10n.t('The value of {0} can only be replaced as a whole.', this.name));
      return changed?.text;
    });
    return written && { undo: () => undoChanges([written]) };
  }
}
