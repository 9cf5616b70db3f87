import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { findRepository } from '../../../../../src/base/git/repository.ts';
import { readBranchMap } from '../../../../../src/extension/gitBranch/branchMap.ts';
import { prepareRepository, ref, url, WorkFolderFixture } from '../../../../helpers/workFolderFixture.ts';

const { Uri, workspace } = await import('vscode');
const { writeBranchUrl } = await import('../../../../../src/extension/gitBranch/commands/writeBranchUrl.ts');
const { runGit } = await import('../../../../../src/extension/window/ui/git.ts');

describe('writeBranchUrl', () => {
  let fixture: WorkFolderFixture;

  beforeEach(async () => {
    fixture = new WorkFolderFixture(await prepareRepository());
    const workspaceFolders = [{ uri: Uri.file(fixture.repository.folder) }];
    Object.assign(workspace, { workspaceFolders, textDocuments: [] });
    await fixture.map.setFollowed(true);
    fixture.write(url('one'));
    await fixture.folder.refresh();
  });
  after(() => Object.assign(workspace, { workspaceFolders: undefined, textDocuments: undefined }));

  /** Chooses the database branch `two` for the git branch `one`. @param written called after the file and before the map is written */
  const choose = async (written: () => Promise<void>) => {
    const { folder } = fixture.repository;
    const context = {
      ...fixture.model(),
      config: { envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
      workFolders: { of: () => fixture.folder },
      log: { error: (_activity: string, error: unknown) => assert.fail(String(error)) },
    };
    const git = {
      folder: { uri: Uri.file(folder), name: '', index: 0 },
      repository: (await findRepository(folder)) ?? assert.fail(),
      gitBranch: 'one',
      map: await readBranchMap(runGit, folder),
      writer: fixture.map,
    };
    const write = async (value: string) => {
      fixture.write(value);
      await written();
      return [];
    };
    const branch = { id: 'br-two', name: 'two' };
    await writeBranchUrl(context as unknown as Parameters<typeof writeBranchUrl>[0], {
      title: '',
      git,
      ref: ref('two'),
      branch,
      write,
    });
  };

  it('keeps what it has written while git still has the earlier database branch', async () => {
    await choose(() => fixture.folder.refresh());
    assert.equal(fixture.value, url('two', 'new'));
    assert.deepEqual(fixture.switched, []);
    assert.deepEqual(fixture.decision, { kind: 'nothing' });
  });

  it('lets the file follow again after a failure', async () => {
    await assert.rejects(
      choose(() => Promise.reject(new Error('full'))),
      /full/,
    );
    assert.equal(fixture.value, url('one', 'new'));
  });
});
