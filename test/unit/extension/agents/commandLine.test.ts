import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { encodedHookLine, hookLine, terminalLine } from '../../../../src/extension/agents/commandLine.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';

/** Names that shells misread without quotes. */
const NAMES = ['Jo (work) & co^2 @home', "it's", 'a "b" $HOME `c`', 'Jürgen', 'plain'];

describe('A command line', () => {
  const run = (line: string) => execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' });

  it('starts the program of any path in a shell of Unix', function () {
    if (process.platform === 'win32') this.skip();
    const own = mkdtempSync(path.join(os.homedir(), '.hosted postgres (test)-'));
    atEndOfTest(() => rmSync(own, { recursive: true }));
    for (const parent of [temporaryFolder(), own])
      for (const name of NAMES) {
        const command = path.join(parent, name, 'launcher');
        mkdirSync(path.dirname(command));
        writeFileSync(command, '#!/bin/sh\necho "$0 $*"\n', { mode: 0o700 });
        const launch = { command, args: ['a b'] };
        assert.equal(run(hookLine(launch, 'VS Code')), `${command} a b hook VS Code\n`);
        assert.equal(encodedHookLine(launch, 'codex'), hookLine(launch, 'codex'));
        assert.equal(run(terminalLine(['echo', 'add'], launch)), `add -- ${command} a b\n`);
      }
  });

  it('names the home folder by its variable, because a team may share the file', () => {
    const launch = { command: path.join(os.homedir(), 'x y', 'launcher'), args: [] };
    assert.match(hookLine(launch, 'codex'), /"\$HOME\/x y\/launcher" hook codex/);
  });

  it('is one for PowerShell on Windows, with forward slashes and without cmd', () =>
    onPlatform('win32', () => {
      const args = ["C:\\Users\\Jo (it's)\\hosted-postgres-mcp.mjs"];
      const launch = { command: 'D:\\VS & Code\\Code.exe', args, env: { ELECTRON_RUN_AS_NODE: '1' } };
      const line = `$env:ELECTRON_RUN_AS_NODE = 1; & 'D:/VS & Code/Code.exe' 'C:/Users/Jo (it''s)/hosted-postgres-mcp.mjs' hook gemini-cli | Out-Null`;
      assert.equal(hookLine(launch, 'gemini-cli'), line);
      const [program, ...rest] = encodedHookLine(launch, 'gemini-cli').split(' ');
      assert.equal(program, 'powershell.exe');
      assert.equal(Buffer.from(rest.at(-1) ?? '', 'base64').toString('utf16le'), line);
      assert.ok(!rest.join().includes('"'));
    }));
});
