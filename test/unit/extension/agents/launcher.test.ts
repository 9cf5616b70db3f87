import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeLauncher, type LaunchCommand } from '../../../../src/extension/agents/launcher.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';
import { withVariables } from '../../../helpers/withVariables.ts';

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

  const run = ({ command, args, env }: LaunchCommand, ...further: readonly string[]): unknown => {
    const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
    return JSON.parse(execFileSync(command, [...args, ...further], options));
  };
  const write = (program: string, more: { readonly isStable?: boolean; readonly script?: string } = {}) =>
    writeLauncher({ folder, program, isStable: true, script, ...more });

  it('starts the script with this Node and the folder of records', async function () {
    if (process.platform === 'win32') this.skip();
    const launcher = await write(process.execPath);
    assert.equal(statSync(launcher.command).mode & 0o777, 0o700);
    assert.deepEqual(run(launcher), [process.execPath, folder, '1']);
    assert.deepEqual(run(launcher, 'hook', 'a "b"'), [process.execPath, folder, '1', 'hook', 'a "b"']);
  });

  it('starts the script with another Node if that one is gone', async function () {
    if (process.platform === 'win32') this.skip();
    const launcher = await write(path.join(folder, 'gone'));
    assert.deepEqual(run(launcher), [realNode(), folder, '1']);
  });

  it('is written again only after a change, under the same path', async () => {
    const launcher = await write(process.execPath);
    const [file] = [...launcher.args, launcher.command];
    const before = statSync(file).ino;
    assert.deepEqual(await write(process.execPath), launcher);
    assert.equal(statSync(file).ino, before);
    assert.deepEqual(await write(process.execPath, { script: path.join(folder, 'new.js') }), launcher);
    assert.match(readFileSync(file, 'utf8'), /new\.js/);
  });

  for (const name of ['Jo (work) & co^2 @home', 'Jürgen 100 %', "it's"])
    it(`needs no shell on Windows, for the path ${name}`, () =>
      onPlatform('win32', async () => {
        folder = path.join(temporaryFolder(), name);
        mkdirSync(folder);
        script = path.join(folder, 'a #script.mjs');
        writeFileSync(
          script,
          'console.log(JSON.stringify([process.env.HOSTED_POSTGRES_AGENTS, process.env.ELECTRON_RUN_AS_NODE, ...process.argv.slice(2)]))',
        );
        const launch = await write(process.execPath);
        assert.equal(launch.command, process.execPath);
        assert.deepEqual(run(launch, 'hook', 'a "b"'), [folder, '1', 'hook', 'a "b"']);
      }));

  it('has a batch file on Windows, for earlier configurations, and for a program whose path changes', () =>
    onPlatform('win32', async () => {
      const { command, args } = await write('C:\\Code 100%\\Code.exe', { isStable: false });
      const file = path.join(folder, 'hosted-postgres-mcp.cmd');
      assert.deepEqual([command, args], ['cmd', ['/c', file]]);
      const text = readFileSync(file, 'utf8');
      assert.match(text, /^@echo off\r\nrem Written by the Hosted Postgres extension/);
      assert.match(text, /\r\nset "ELECTRON_RUN_AS_NODE=1"\r\n/);
      assert.match(text, /\r\n"C:\\Code 100%%\\Code\.exe" "%~dp0hosted-postgres-mcp\.mjs" %\*\r\n$/);
      await withVariables({ LOCALAPPDATA: 'C:\\Users\\Jürgen\\AppData\\Local' }, async () => {
        await write('C:\\Users\\Jürgen\\AppData\\Local\\100%\\Code.exe');
      });
      assert.ok(readFileSync(file, 'utf8').includes('"%LOCALAPPDATA%\\100%%\\Code.exe" '));
    }));
});

/** The Node that a shell finds. */
const realNode = (): string =>
  execFileSync('node', ['--print', 'process.execPath'], { encoding: 'utf8' }).trim();
