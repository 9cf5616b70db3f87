/** The file system of settings documents: the Postgres settings of a compute as a JSON file. */
import { FileSystemError, workspace, type EventEmitter, type FileChangeEvent, type Uri } from 'vscode';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { SETTINGS_SCHEME } from '../settings/settingsScheme.ts';
import type { SettingsDocuments } from './settingsDocuments.ts';

const readOnlyFolder = (): never => {
  throw FileSystemError.NoPermissions();
};

export function registerSettingsFiles(
  load: () => Promise<{ readonly settingsDocuments: SettingsDocuments }>,
  changed: EventEmitter<FileChangeEvent[]>,
): Disposable {
  const documents = async () => (await load()).settingsDocuments;
  const fileSystem = {
    onDidChangeFile: changed.event,
    /** `onDidChangeFile` reports changes of all documents. */
    watch: () => toDisposable(() => undefined),
    stat: async (uri: Uri) => (await documents()).stat(uri),
    readFile: async (uri: Uri) => (await documents()).read(uri),
    writeFile: async (uri: Uri, content: Uint8Array) => (await documents()).write(uri, content),
    readDirectory: readOnlyFolder,
    createDirectory: readOnlyFolder,
    delete: readOnlyFolder,
    rename: readOnlyFolder,
  };
  return workspace.registerFileSystemProvider(SETTINGS_SCHEME, fileSystem, { isCaseSensitive: true });
}
