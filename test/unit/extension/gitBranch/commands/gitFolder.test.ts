import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { branchMapWriter, readBranchMap } from '../../../../../src/extension/gitBranch/branchMap.ts';
import { findRepository } from '../../../../../src/base/git/repository.ts';
import type { BranchRef } from '../../../../../src/extension/account/refs.ts';
import { createRepository, type GitRepository } from '../../../../helpers/gitRepository.ts';

const vscode = await import('vscode');
const { mapDefaultBranch } = await import('../../../../../src/extension/gitBranch/commands/gitFolder.ts');
const { runGit } = await import('../../../../../src/extension/window/ui/git.ts');

const parent: BranchRef = { account: 'local', projectId: 'shop', branchId: 'br-main' };
const feature: BranchRef = { ...parent, branchId: 'br-feature' };

describe('mapDefaultBranch', () => {
  let repository: GitRepository;

  beforeEach(() => {
    repository = createRepository();
    repository.git('switch', '--quiet', '--create', 'feature');
  });

  /** @returns the map afterwards, as ids */
  const map = async (current: BranchRef | undefined, mark?: string) => {
    const { folder } = repository;
    const found = await findRepository(folder);
    assert.ok(found);
    const workFolder = { uri: vscode.Uri.file(folder), name: '', index: 0 };
    const context = {
      guards: { cachedMark: () => mark },
      workFolders: { of: () => ({ state: { current } }) },
    };
    const git = {
      folder: workFolder,
      repository: found,
      gitBranch: 'feature',
      map: await readBranchMap(runGit, folder),
      writer: branchMapWriter(runGit, folder),
    };
    await mapDefaultBranch(context as unknown as Parameters<typeof mapDefaultBranch>[0], git, parent, 'main');
    const { branches } = await readBranchMap(runGit, folder);
    return [...branches].map(([name, ref]) => `${name} ${ref === 'none' ? ref : ref.branchId}`);
  };

  it('maps it although another branch is checked out, if the file points to the parent', async () => {
    assert.deepEqual(await map(parent), ['main br-main']);
  });

  it('maps what the remote calls so', async () => {
    repository.git('branch', 'develop');
    repository.git('update-ref', 'refs/remotes/origin/develop', 'HEAD');
    repository.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/develop');
    assert.deepEqual(await map(parent), ['develop br-main']);
  });

  it('maps nothing in production, with another value in the file, or against an answer', async () => {
    assert.deepEqual(await map(parent, 'production'), []);
    assert.deepEqual(await map(feature), []);
    assert.deepEqual(await map(undefined), []);
    await branchMapWriter(runGit, repository.folder).setBranch('main', 'none');
    assert.deepEqual(await map(parent), ['main none']);
  });
});
