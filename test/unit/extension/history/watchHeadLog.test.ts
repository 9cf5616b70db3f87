import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { watchHeadLog } from '../../../../src/extension/history/watchHeadLog.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';

describe('watchHeadLog', () => {
  it('reports a checkout in a repository that had no commit yet', async () => {
    const repository = createRepository().at(temporaryFolder());
    repository.git('init', '--quiet', '--initial-branch=main', '--template=');
    const gitDir = path.join(repository.folder, '.git');
    const log = path.join(gitDir, 'logs', 'HEAD');
    let reported = '';
    const watcher = watchHeadLog({ gitDir }, () => {
      reported = existsSync(log) ? readFileSync(log, 'utf8') : '';
    });
    repository.git('commit', '--quiet', '--allow-empty', '--message=First');
    await until('the first commit', async () => reported.includes('First'));
    repository.git('checkout', '--quiet', '-b', 'feature');
    await until('the checkout', async () => reported.includes('checkout: moving'));
    watcher.dispose();
  });
});
