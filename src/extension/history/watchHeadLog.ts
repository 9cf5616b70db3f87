import path from 'node:path';
import type { Disposable } from '../../base/disposable.ts';
import type { Repository } from '../../base/git/repository.ts';
import { watchFiles } from '../gitBranch/watchFiles.ts';

/** Watches git's reflog of HEAD. Git creates its folder at the first commit. */
export function watchHeadLog({ gitDir }: Pick<Repository, 'gitDir'>, onChange: () => void): Disposable {
  const watchLog = () => watchFiles([[path.join(gitDir, 'logs'), ['HEAD']]], onChange);
  const folderWatcher = watchFiles([[gitDir, ['logs']]], () => {
    watcher.dispose();
    watcher = watchLog();
    onChange();
  });
  let watcher = watchLog();
  return {
    dispose() {
      folderWatcher.dispose();
      watcher.dispose();
    },
  };
}
