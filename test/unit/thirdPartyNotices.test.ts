import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { NOTICES, SHIPPED_FILES, thirdPartyNotices } from '../../scripts/package/thirdPartyNotices.ts';
import { temporaryFolder } from '../helpers/localService.ts';
import { readText } from '../helpers/projectFiles.ts';
import { writeFiles } from '../helpers/writeFiles.ts';
import { projectRoot } from '../workbench/folders.ts';

/** As esbuild describes a bundle: bytes by input file. */
const bundleOf = (inputs: Readonly<Record<string, number>>) => ({
  outputs: {
    'dist/a.js': {
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([file, bytesInOutput]) => [file, { bytesInOutput }]),
      ),
    },
  },
});

describe('The third-party notices', () => {
  let folder: string;
  const write = (file: string, text: string) => writeFiles({ [file]: text }, folder);
  const addPackage = (name: string, license: Readonly<Record<string, string>>) => {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.2.3' }));
    for (const [file, text] of Object.entries(license)) write(`node_modules/${name}/${file}`, text);
  };

  beforeEach(() => {
    folder = temporaryFolder();
    for (const { license } of SHIPPED_FILES) write(license, 'The license of a file\n');
  });

  it('have every bundled package once, with its license', async () => {
    addPackage('one', { LICENSE: 'License of one\n' });
    addPackage('@scope/two', { 'license.md': 'License of two\n' });
    addPackage('one/node_modules/three', { COPYING: 'License of three\n' });
    const files = ['one/a.js', 'one/b.js', '@scope/two/a.js', 'one/node_modules/three/a.js'];
    const bundle = bundleOf(Object.fromEntries(files.map((file) => [`node_modules/${file}`, 10])));
    const notices = await thirdPartyNotices(bundle, folder);
    for (const name of ['one', 'two', 'three'])
      assert.equal(notices.split(`License of ${name}`).length, 2, name);
    assert.match(notices, /^@scope\/two 1\.2\.3$/m);
    assert.match(notices, /The license of a file/);
  });

  it('leave out what is not in the bundle', async () => {
    const notices = await thirdPartyNotices(bundleOf({ 'src/a.ts': 9, 'node_modules/one/a.js': 0 }), folder);
    assert.doesNotMatch(notices, /one/);
  });

  it('cannot be made without the license of a package', async () => {
    addPackage('one', { 'README.md': '' });
    await assert.rejects(
      thirdPartyNotices(bundleOf({ 'node_modules/one/a.js': 1 }), folder),
      /no license.*one/,
    );
  });

  it('cannot be made without the license of a shipped file', async () => {
    const [first] = SHIPPED_FILES;
    rmSync(path.join(folder, first?.license ?? ''));
    await assert.rejects(thirdPartyNotices(bundleOf({}), folder), /ENOENT/);
  });

  it('have the Postgres license, for the descriptions of its settings', async () => {
    const notices = await thirdPartyNotices(bundleOf({}), projectRoot);
    assert.match(notices, /pg-settings\.schema\.json/);
    assert.match(notices, /Copyright \(c\) [\d-]+,? PostgreSQL Global Development Group/);
    assert.match(notices, /IN NO EVENT SHALL THE UNIVERSITY OF CALIFORNIA BE LIABLE/);
  });

  it('are part of the package', () => {
    const rules = readText('.vscodeignore').split('\n');
    assert.ok(rules.includes(`!${NOTICES}`));
  });
});
