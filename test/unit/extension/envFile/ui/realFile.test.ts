import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import '../../../../helpers/vscodeValues.ts';

const { resolveWorkspaceFile } = await import('../../../../../src/extension/envFile/ui/realFile.ts');

describe('resolveWorkspaceFile', () => {
  let home: string;
  let workspace: string;
  const file = (name: string) => path.join(workspace, name);
  const find = (name: string, folder = workspace) => resolveWorkspaceFile(path.join(folder, name), [folder]);

  before(function () {
    if (process.platform === 'win32') this.skip(); // Ordinary users can't create links.
  });
  beforeEach(() => {
    home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-links-')));
    workspace = path.join(home, 'workspace');
    mkdirSync(file('folder'), { recursive: true });
    for (const name of ['workspace/folder/a', 'outside']) writeFileSync(path.join(home, name), '');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('returns the path of a file that does not exist yet', async () => {
    assert.deepEqual(await find('.env'), { path: file('.env'), isLink: false });
  });

  it('follows chains of links through folders', async () => {
    symlinkSync('folder', file('one'));
    symlinkSync('one/a', file('.env'));
    assert.deepEqual(await find('.env'), { path: file('folder/a'), isLink: true });
  });

  it('accepts a workspace folder that is a link', async () => {
    const link = path.join(home, 'link');
    symlinkSync(workspace, link);
    writeFileSync(file('.env'), '');
    assert.deepEqual(await find('.env', link), { path: file('.env'), isLink: false });
  });

  for (const [what, target] of [
    ['a link that leaves the workspace', '../outside'],
    ['a link that leaves the workspace through another link', 'up/outside'],
    ['a link to a folder whose name starts with that of the workspace', '../workspace-other/a'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      symlinkSync('..', file('up'));
      mkdirSync(path.join(home, 'workspace-other'));
      writeFileSync(path.join(home, 'workspace-other/a'), '');
      symlinkSync(target, file('.env'));
      await assert.rejects(find('.env'), /\.env is a link to .*, which isn't in the workspace/);
    });
  }

  it('rejects a new file in a folder that is a link out of the workspace', async () => {
    symlinkSync('..', file('up'));
    await assert.rejects(find('up/.env'), /isn't in the workspace/);
  });

  it('accepts a link into another folder of the workspace', async () => {
    symlinkSync('../outside', file('.env'));
    const found = await resolveWorkspaceFile(file('.env'), [path.join(home, 'gone'), workspace, home]);
    assert.equal(found.path, path.join(home, 'outside'));
  });

  it('rejects broken links and folders', async () => {
    symlinkSync('nothing', file('.env'));
    await assert.rejects(find('.env'), /doesn't exist/);
    await assert.rejects(find('folder'), /isn't a regular file/);
  });
});
