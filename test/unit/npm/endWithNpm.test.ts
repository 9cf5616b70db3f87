/** Timers: npm/endWithNpm.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const MODULE = new URL('../../../src/npm/endWithNpm.ts', import.meta.url).href;
const PROGRAM = `import(${JSON.stringify(MODULE)}).then(({ endWithNpm }) => {
  endWithNpm();
  setInterval(() => undefined, 1000);
  console.log(process.pid);
});`;
/** Starts the program as npm's shell does. */
const SHELL = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(PROGRAM)}], { stdio: 'inherit' });`;

describe('A program that npm has started', () => {
  it('ends with the shell of npm also while it handles no signals', async () => {
    const env = { ...process.env, npm_lifecycle_script: 'hosted-postgres rehearse' };
    const shell = spawn(process.execPath, ['-e', SHELL], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(shell.stdout, 'close');
    await once(shell.stdout, 'data');
    shell.kill('SIGKILL');
    // The program has the pipe as well.
    await closed;
  });
});
