import { watch } from 'node:fs';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';

/** Names of files in folders. The files needn't exist. */
export type WatchedFiles = readonly (readonly [folder: string, names: readonly string[]])[];

/** Watches folders, because git and editors replace files. */
export function watchFiles(files: WatchedFiles, onChange: () => void): Disposable {
  const disposables = new DisposableStore();
  for (const [folder, names] of files) {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // Some systems don't report a name.
        if (name === null || names.includes(name)) onChange();
      });
      // The watcher fails if the folder was removed, for example.
      watcher.on('error', () => watcher.close());
      disposables.add({ dispose: () => watcher.close() });
    } catch {
      // The folder was removed, or the system has no watcher left. A window that gets the focus refreshes anyway.
    }
  }
  return disposables;
}
