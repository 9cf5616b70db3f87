import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { findProgram } from '../../../../src/base/programs/findProgram.ts';
import { DELETION_SIGNAL } from '../../../../src/extension/connection/deletionSignal.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { projectRoot } from '../../../workbench/folders.ts';
import path from 'node:path';
import { startLocalService } from '../../../helpers/localService.ts';
import { branchApi, BRANCH } from '../../service/postgres/catalog/branchApi.ts';

const script = path.join(projectRoot, 'src/extension/connection/terminalProgram.ts');
const LAST = 'Press any key.';
const DELETED = 'It was deleted.';

describe('terminalProgram', () => {
  const run = (program: string, ...args: string[]) => {
    const child = spawn(process.execPath, [script, LAST, DELETED, program, ...args], { stdio: 'pipe' });
    atEndOfTest(() => child.kill('SIGKILL'));
    return { child, ended: once(child, 'exit'), errors: text(child.stderr) };
  };
  const waitForLast = async (stdout: NodeJS.ReadableStream) => {
    let shown = '';
    for await (const chunk of stdout) if ((shown += String(chunk)).includes(LAST)) return shown;
    return assert.fail(`It has ended: ${shown}`);
  };

  it('keeps why psql could not connect until a key is pressed', async function () {
    const psql = findProgram('psql');
    if (psql === undefined) return this.skip();
    const { child, ended, errors } = run(psql, '--dbname=host=127.0.0.1 port=1');
    await waitForLast(child.stdout);
    child.stdin.write('q');
    assert.deepEqual(await ended, [0, null]);
    assert.match(await errors, /connection to server at "127\.0\.0\.1", port 1 failed/);
  });

  it("keeps Postgres's reason for a wrong password", async function () {
    const psql = findProgram('psql');
    if (psql === undefined) return this.skip();
    const service = await startLocalService();
    atEndOfTest(() => service.stop());
    const url = new URL(await branchApi(() => service, BRANCH).uri());
    url.password = 'wrong';
    const { child, errors } = run(psql, url.href);
    await waitForLast(child.stdout);
    child.stdin.write('q');
    assert.match(await errors, /password authentication failed for user "app_owner"/);
  });

  it('ends at once after a success, and passes what is entered', async () => {
    const { child, ended } = run(process.execPath, '-e', 'process.stdin.pipe(process.stdout)');
    child.stdin.end('select 1');
    assert.equal(await text(child.stdout), 'select 1');
    assert.deepEqual(await ended, [0, null]);
  });

  it('says why a program could not be started', async () => {
    const { child } = run(path.join(projectRoot, 'no such program'));
    assert.match(await waitForLast(child.stdout), /ENOENT/);
  });

  it('says that the compute was deleted, and lets the program continue', async function () {
    if (process.platform === 'win32') return this.skip();
    const echo =
      "process.stdin.on('data', (data) => process.stdout.write(`got ${data}`)); console.log('started')";
    const { child, ended } = run(process.execPath, '-e', echo);
    const shown = async (expected: string) => {
      for await (const [chunk] of on(child.stdout, 'data')) if (String(chunk).includes(expected)) return;
    };
    await shown('started');
    child.kill(DELETION_SIGNAL);
    await shown(`\r\n${DELETED}\r\n`);
    child.stdin.write('select 1');
    await shown('got select 1');
    child.stdin.end();
    assert.deepEqual(await ended, [0, null]);
  });

  it('hides from the program that VS Code runs as Node', async () => {
    const child = spawn(
      process.execPath,
      [script, LAST, DELETED, process.execPath, '-p', 'process.env.ELECTRON_RUN_AS_NODE'],
      {
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      },
    );
    assert.equal(await text(child.stdout), 'undefined\n');
  });
});
