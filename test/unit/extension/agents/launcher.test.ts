import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launchCommand, writeLauncher } from '../../../../src/extension/agents/launcher.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';

describe('The launcher', () => {
  let folder: string;
  let script: string;

  beforeEach(() => {
    // Quotes can't be in paths on Windows.
    const name = process.platform === 'win32' ? "it's 100 %" : `it's 100 % "$HOME"`;
    folder = path.join(temporaryFolder(), name);
    mkdirSync(folder);
    script = path.join(temporaryFolder(), `a 'b'.cjs`);
    writeFileSync(
      script,
      'console.log(JSON.stringify([process.execPath, process.env.HOSTED_POSTGRES_AGENTS, process.env.ELECTRON_RUN_AS_NODE, ...process.argv.slice(2)]))',
    );
  });

  const run = (launcher: string, ...further: readonly string[]): unknown => {
    const { command, args } = launchCommand(launcher);
    return JSON.parse(execFileSync(command, [...args, ...further], { encoding: 'utf8' }));
  };

  it('starts the script with this Node and the folder of records', async function () {
    if (process.platform === 'win32') this.skip();
    const launcher = await writeLauncher({ folder, program: process.execPath, script });
    assert.equal(statSync(launcher).mode & 0o777, 0o700);
    assert.deepEqual(run(launcher), [process.execPath, folder, '1']);
    assert.deepEqual(run(launcher, 'hook', 'a "b"'), [process.execPath, folder, '1', 'hook', 'a "b"']);
  });

  it('starts the script with another Node if that one is gone', async function () {
    if (process.platform === 'win32') this.skip();
    const launcher = await writeLauncher({ folder, program: path.join(folder, 'gone'), script });
    assert.deepEqual(run(launcher), [realNode(), folder, '1']);
  });

  it('is written again only after a change, under the same path', async () => {
    const options = { folder, program: process.execPath, script };
    const launcher = await writeLauncher(options);
    const before = statSync(launcher).ino;
    assert.equal(await writeLauncher(options), launcher);
    assert.equal(statSync(launcher).ino, before);
    assert.equal(await writeLauncher({ ...options, script: path.join(folder, 'new.js') }), launcher);
    assert.match(readFileSync(launcher, 'utf8'), /new\.js/);
  });

  it('is a batch file on Windows, started by the shell', () =>
    onPlatform('win32', async () => {
      const [program, mcp] = ['C:\\Code 100%\\Code.exe', 'C:\\x\\mcp.js'];
      const launcher = await writeLauncher({ folder, program, script: mcp });
      assert.ok(existsSync(launcher) && launcher.endsWith('.cmd'));
      const text = readFileSync(launcher, 'utf8');
      assert.match(text, /^@echo off\r\nrem Written by the Hosted Postgres extension/);
      assert.match(text, /\r\nset "ELECTRON_RUN_AS_NODE=1"\r\n/);
      assert.ok(text.includes(`set "HOSTED_POSTGRES_AGENTS=${folder.replaceAll('%', '%%')}"\r\n`));
      assert.match(text, /\r\n"C:\\Code 100%%\\Code\.exe" "C:\\x\\mcp\.js" %\*\r\n$/);
      const before = process.env['LOCALAPPDATA'];
      process.env['LOCALAPPDATA'] = 'C:\\Users\\Jürgen\\AppData\\Local';
      const own = `${process.env['LOCALAPPDATA']}\\100%\\Code.exe`;
      await writeLauncher({ folder, program: own, script: mcp });
      if (before === undefined) delete process.env['LOCALAPPDATA'];
      else process.env['LOCALAPPDATA'] = before;
      assert.ok(readFileSync(launcher, 'utf8').includes('"%LOCALAPPDATA%\\100%%\\Code.exe" '));
      assert.deepEqual(launchCommand(launcher), { command: 'cmd', args: ['/c', launcher] });
    }));
});

/** The Node that a shell finds. */
const realNode = (): string =>
  execFileSync('node', ['--print', 'process.execPath'], { encoding: 'utf8' }).trim();
