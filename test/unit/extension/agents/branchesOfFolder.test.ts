import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { branchesOfFolder } from '../../../../src/extension/agents/branchesOfFolder.ts';
import { AgentBranches } from '../../../../src/extension/inventory/agentBranches.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('branchesOfFolder', () => {
  let root: string;
  let open: string[];
  let named: Record<string, { file: string; variable: string }>;

  beforeEach(() => {
    root = realpathSync(temporaryFolder());
    open = [];
    named = {};
  });

  /** Writes a URL, by whose host the branch is known. */
  const write = (file: string, variable: string, host: string) => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), `${variable}=postgresql://u:p@${host}/app\n`);
  };

  const find = async (worktree: string): Promise<readonly string[]> => {
    const knownHosts = new KnownHosts(new MemoryMap());
    knownHosts.get = (host) => ({
      account: 'a',
      projectId: 'shop',
      branchId: host,
      projectName: '',
      branchName: '',
      isPooled: false,
      isProtected: false,
      isDeleted: false,
    });
    const agentBranches = new AgentBranches(new MemoryMap());
    const envSettings = {
      folders: () => open,
      of: (folder: string) => named[folder] ?? { file: '.env', variable: 'DATABASE_URL' },
    };
    const sources = { agentBranches, knownHosts, envSettings };
    return (await branchesOfFolder(sources, 'a', worktree)).map(({ branchId }) => branchId);
  };

  it('reads the file and variable that the settings name', async () => {
    named[root] = { file: 'config/dev.env', variable: 'PG_URL' };
    write('config/dev.env', 'PG_URL', 'configured');
    write('.env', 'DATABASE_URL', 'other');
    assert.deepEqual(await find(root), ['configured']);
  });

  it('reads the files of open folders in or around the worktree, but of no others', async () => {
    open = ['sub', '', 'elsewhere'].map((folder) => path.join(root, folder));
    write('sub/.env', 'DATABASE_URL', 'inner');
    write('.env', 'DATABASE_URL', 'outer');
    write('elsewhere/.env', 'DATABASE_URL', 'other');
    assert.deepEqual(await find(path.join(root, 'sub')), ['inner', 'outer']);
    assert.deepEqual(await find(root), ['outer', 'inner', 'other']);
  });

  it('reads what corresponds to an open folder of another worktree', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        stdio: 'ignore',
      });
    git('init', 'main');
    git('-C', 'main', 'commit', '--allow-empty', '-m', 'first');
    git('-C', 'main', 'worktree', 'add', '../task');
    open = [path.join(root, 'main', 'api')];
    named[open[0] ?? ''] = { file: 'dev.env', variable: 'PG_URL' };
    write('main/api/dev.env', 'PG_URL', 'of-main');
    write('task/api/dev.env', 'PG_URL', 'of-task');
    assert.deepEqual(await find(path.join(root, 'task')), ['of-task']);
  });
});
