import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createGitRunner } from '../../../../src/base/git/runGit.ts';
import { prepareAgentEnv } from '../../../../src/extension/agents/agentEnvFile.ts';
import { createRepository, type GitRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

const URL = 'postgresql://app_owner:new@ep-new.example.test/app?sslmode=require';
const valueOf = (host: string) => `DATABASE_URL=postgresql://owner:secret@${host}/app`;
const runGit = createGitRunner(() => 'git');
/** Whose value may be replaced. */
const OWN = 'ep-agent.example.test';

describe('prepareAgentEnv', () => {
  let repository: GitRepository;
  /** A worktree of the repository, in which the agent runs. */
  let folder: string;
  const file = (name = '.env') => path.join(folder, name);
  const prepare = (name = '.env', fields: Partial<Parameters<typeof prepareAgentEnv>[0]> = {}) =>
    prepareAgentEnv({
      folder,
      file: name,
      variable: 'DATABASE_URL',
      runGit,
      isReplaceable: async (host) => host === OWN,
      ...fields,
    });

  beforeEach(() => {
    repository = createRepository();
    writeFileSync(path.join(repository.folder, '.gitignore'), '*.env\n.env*\n');
    repository.git('add', '.gitignore');
    repository.git('commit', '--quiet', '--message=Ignore');
    folder = `${repository.folder}-task`;
    repository.git('worktree', 'add', '--quiet', folder);
  });

  it('creates a file that only the user can read', async () => {
    const { path: real, write } = await prepare();
    assert.equal(existsSync(file()), false);
    await write(URL);
    assert.equal(real, realpathSync(file()));
    assert.equal(readFileSync(file(), 'utf8'), `DATABASE_URL=${URL}\n`);
    if (process.platform !== 'win32') assert.equal(statSync(file()).mode & 0o777, 0o600);
  });

  it('adds a variable, or sets an empty one, and keeps all other lines', async () => {
    for (const [before, after] of [
      ['A=1\r\n', `A=1\r\nDATABASE_URL=${URL}\r\n`],
      ['\ufeffDATABASE_URL=\nB=2', `\ufeffDATABASE_URL=${URL}\nB=2`],
      [
        `# ${valueOf('ep-user.example.test')}\n`,
        `# ${valueOf('ep-user.example.test')}\nDATABASE_URL=${URL}\n`,
      ],
    ] as const) {
      writeFileSync(file(), before);
      await (await prepare()).write(URL);
      assert.equal(readFileSync(file(), 'utf8'), after);
    }
  });

  it('replaces the URL of a branch that an agent created', async () => {
    writeFileSync(file(), `A=1\nexport ${valueOf(OWN)}?schema=a&b=c\n`);
    await (await prepare()).write(URL);
    const after = `${URL}&schema=a&b=c`;
    assert.equal(readFileSync(file(), 'utf8'), `A=1\nexport DATABASE_URL=${after}\n`);
  });

  it('keeps the variables of calls at the same time, and what other programs write during the look-ups', async () => {
    const names = ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE'].map((name) => `${name}_URL`);
    writeFileSync(file(), names.map((variable) => `${variable}=${valueOf(OWN).slice(13)}\n`).join(''));
    const isReplaceable = async (host: string) => {
      appendFileSync(file(), 'OTHER=1\n');
      return host === OWN;
    };
    const files = await Promise.all(names.map((variable) => prepare('.env', { variable, isReplaceable })));
    await Promise.all(files.map(({ write }) => write(URL)));
    const expected = [...names.map((variable) => `${variable}=${URL}`), ...Array(10).fill('OTHER=1'), ''];
    assert.deepEqual(readFileSync(file(), 'utf8').split('\n'), expected);
  });

  it('does not change the form of a value', async () => {
    writeFileSync(file(), `DATABASE_URL="${valueOf(OWN).slice(13)}"'' # why\n`);
    await assert.rejects(prepare(), /a value of the user/);
    writeFileSync(file(), `DATABASE_URL="${valueOf(OWN).slice(13)}\\n" # why\n`);
    await (await prepare()).write(URL);
    assert.equal(readFileSync(file(), 'utf8'), `DATABASE_URL="${URL}\\n" # why\n`);
  });

  for (const [what, text] of [
    ['the URL of another branch', valueOf('ep-user.example.test')],
    ['no URL', 'DATABASE_URL=${PRODUCTION}'],
    ['several hosts', valueOf(`${OWN},ep-user.example.test`)],
    ['a URL after a byte order mark', `\ufeff${valueOf('ep-user.example.test')}`],
    ['the last of two values', `${valueOf(OWN)}\nexport ${valueOf('ep-user.example.test')}`],
  ] as const)
    it(`does not replace a value of the user: ${what}`, async () => {
      writeFileSync(file(), text);
      await assert.rejects(prepare(), /DATABASE_URL in \.env has a value of the user/);
      assert.equal(readFileSync(file(), 'utf8'), text);
    });

  it('does not replace a value that the user entered since', async () => {
    const { write } = await prepare();
    writeFileSync(file(), valueOf('ep-user.example.test'));
    await assert.rejects(write(URL), /a value of the user/);
    assert.equal(readFileSync(file(), 'utf8'), valueOf('ep-user.example.test'));
  });

  it('sets another variable next to the user’s', async () => {
    writeFileSync(file(), `${valueOf('ep-user.example.test')}\n`);
    await (await prepare('.env', { variable: 'TEST_URL' })).write(URL);
    assert.equal(readFileSync(file(), 'utf8'), `${valueOf('ep-user.example.test')}\nTEST_URL=${URL}\n`);
  });

  it('writes only files that git ignores', async () => {
    await assert.rejects(prepare('.dev.vars'), /Git doesn't ignore \.dev\.vars/);
    writeFileSync(file('.env.example'), '');
    repository.at(folder).git('add', '--force', '.env.example');
    await assert.rejects(prepare('.env.example'), /part of the Git repository/);
    writeFileSync(path.join(repository.folder, '.git', 'config'), 'not a config');
    await assert.rejects(prepare(), /Couldn't check whether Git ignores/);
  });

  it('writes to a folder without a repository', async () => {
    const outside = realpathSync(temporaryFolder());
    await (await prepare('.env', { folder: outside })).write(URL);
    assert.equal(readFileSync(path.join(outside, '.env'), 'utf8'), `DATABASE_URL=${URL}\n`);
  });

  it('writes only into the folder of the agent', async () => {
    for (const name of ['../.env', path.join(repository.folder, '.env'), '../../x/../.env'])
      await assert.rejects(prepare(name), /isn't in the folder of the agent|doesn't exist/, name);
    mkdirSync(file('packages/api'), { recursive: true });
    await (await prepare('packages/api/.env')).write(URL);
    assert.equal(existsSync(file('packages/api/.env')), true);
    await assert.rejects(
      prepare('.env', { folder: path.parse(folder).root }),
      /isn't the folder of a project/,
    );
    await assert.rejects(prepare('.env', { folder: os.homedir() }), /isn't the folder of a project/);
    await assert.rejects(prepare('missing/.env'), /The folder of missing\/\.env doesn't exist/);
  });

  it('follows no link out of the folder', async function () {
    if (process.platform === 'win32') return this.skip(); // Ordinary users can't create links.
    const main = path.join(repository.folder, '.env');
    writeFileSync(main, 'A=1\n');
    symlinkSync(main, file());
    await assert.rejects(prepare(), /isn't in the folder of the agent/);
    symlinkSync(repository.folder, file('main'));
    await assert.rejects(prepare('main/.env'), /isn't in the folder of the agent/);
    symlinkSync('missing', file('.env.local'));
    await assert.rejects(prepare('.env.local'), /a link to a file that doesn't exist/);
    linkSync(main, file('.env.test'));
    await (await prepare('.env.test')).write(URL);
    assert.equal(readFileSync(main, 'utf8'), 'A=1\n');
  });

  it('writes only to files and variables for the environment', async () => {
    for (const name of [
      '.bashrc',
      'src/main.ts',
      'package.json',
      '.git/config',
      'environment.ts',
      '.env.a:b',
      '',
      '.',
    ])
      await assert.rejects(prepare(name), /isn't the name of an env file/, name);
    await assert.rejects(prepare('.env', { variable: 'A=1\nB' }), /isn't the name of a variable/);
    await assert.rejects(prepare('.git/x.env', { folder: repository.folder }), /Couldn't check whether Git/);
    mkdirSync(file('.env.d'));
    await assert.rejects(prepare('.env.d'), /isn't a file/);
    writeFileSync(file(), Buffer.from([0xff, 0xfe, 0x41, 0]));
    await assert.rejects(prepare(), /isn't UTF-8/);
  });
});
