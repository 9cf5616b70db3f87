import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import { readIgnoreState as check } from '../../../../src/extension/envFile/gitIgnored.ts';
import { withVariables } from '../../../helpers/withVariables.ts';

const gitIgnored = (file: string) =>
  check(
    createGitRunner(() => 'git'),
    file,
  );

describe('readIgnoreState', () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args]);
  const init = (name = '.') => git('init', '--quiet', name);

  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-git-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('returns outside if no parent folder is a repository', async () => {
    assert.equal(await gitIgnored(file('.env')), 'outside');
  });

  it('returns notIgnored, then ignored once a rule says so', async () => {
    init();
    assert.equal(await gitIgnored(file('.env')), 'notIgnored');
    writeFileSync(file('.gitignore'), '.env\n');
    assert.equal(await gitIgnored(file('.env')), 'ignored');
  });

  it('returns tracked for a committed or added file, even if it is ignored', async () => {
    init();
    writeFileSync(file('.env'), '');
    writeFileSync(file('.gitignore'), '.env\n');
    git('add', '--force', '.env');
    assert.equal(await gitIgnored(file('.env')), 'tracked');
  });

  it('takes names with pattern characters literally', async () => {
    init();
    writeFileSync(file('a.env'), '');
    git('add', 'a.env');
    assert.equal(await gitIgnored(file('[a].env')), 'notIgnored');
    assert.equal(await gitIgnored(file(':(top)a.env')), 'notIgnored');
  });

  it('uses the innermost repository', async () => {
    init();
    writeFileSync(file('.gitignore'), '.env\n');
    init('inner');
    assert.equal(await gitIgnored(file('inner/.env')), 'notIgnored');
  });

  it('returns unknown for a repository that git rejects', async () => {
    init();
    writeFileSync(file('.gitignore'), '.env\n');
    writeFileSync(file('.git/config'), 'not a config');
    assert.equal(await gitIgnored(file('.env')), 'unknown');
  });

  it('returns unknown for a repository of another owner', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    init();
    writeFileSync(file('.gitignore'), '.env\n');
    for (const name of ['.', '.git']) execFileSync('chown', ['12345', file(name)]);
    assert.equal(await gitIgnored(file('.env')), 'unknown');
  });

  it('ignores GIT_DIR and GIT_WORK_TREE', async () => {
    init();
    init('other');
    writeFileSync(file('other/.gitignore'), '.env\n');
    await withVariables({ GIT_DIR: file('other/.git'), GIT_WORK_TREE: file('other') }, async () =>
      assert.equal(await gitIgnored(file('.env')), 'notIgnored'),
    );
  });

  it('uses the configuration of the environment, but runs no program of it', async function () {
    if (process.platform === 'win32') return this.skip();
    init();
    writeFileSync(file('program'), `#!/bin/sh\ntouch '${file('ran')}'\n`, { mode: 0o755 });
    writeFileSync(file('rules'), '.env\n');
    const variables = {
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.excludesFile',
      GIT_CONFIG_VALUE_0: file('rules'),
      GIT_CONFIG_KEY_1: 'core.fsmonitor',
      GIT_CONFIG_VALUE_1: file('program'),
    };
    await withVariables(variables, async () => assert.equal(await gitIgnored(file('.env')), 'ignored'));
    assert.equal(existsSync(file('ran')), false);
  });

  it('runs no programs that the repository configures', async function () {
    if (process.platform === 'win32') return this.skip();
    init();
    writeFileSync(file('program'), `#!/bin/sh\ntouch '${file('ran')}'\n`);
    chmodSync(file('program'), 0o755);
    mkdirSync(file('hooks'));
    writeFileSync(file('hooks/post-index-change'), `#!/bin/sh\ntouch '${file('ran')}'\n`, { mode: 0o755 });
    for (const name of ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'core.editor'])
      git('config', name, file('program'));
    git('config', 'core.hooksPath', file('hooks'));
    git('config', 'core.untrackedCache', 'true');
    writeFileSync(file('.env'), '');
    await gitIgnored(file('.env'));
    assert.equal(existsSync(file('ran')), false);
  });
});
