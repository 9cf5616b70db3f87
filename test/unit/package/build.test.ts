import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeBuild } from '../../../scripts/package/targets.ts';
import { withPictures } from '../../../scripts/package/createPackage.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('A build', () => {
  it('removes what earlier builds have written, except packages', async () => {
    const folder = temporaryFolder();
    for (const name of ['a.vsix', 'a.tgz', 'a.js']) writeFileSync(path.join(folder, name), '');
    mkdirSync(path.join(folder, 'npm'));
    await removeBuild(folder);
    assert.deepEqual(readdirSync(folder).toSorted(), ['a.tgz', 'a.vsix']);
    await removeBuild(path.join(folder, 'none'));
  });

  it('puts the pictures of the README into its text, except those with an address', async () => {
    const root = temporaryFolder();
    writeFileSync(path.join(root, 'a.png'), 'png');
    const text = '![One](a.png)\n![Two](https://example.test/b.png) [link](a.png)';
    assert.equal(await withPictures(text, root), text.replace('(a.png)', '(data:image/png;base64,cG5n)'));
  });
});
