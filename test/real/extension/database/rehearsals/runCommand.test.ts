/** The command of a rehearsal, in a real shell. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { AssumedVariables } from '../../../../../src/api/addresses/addressGroups.ts';
import { isAlive } from '../../../../../src/base/programs/isAlive.ts';
import { runMigrationCommand } from '../../../../../src/extension/database/rehearsals/runCommand.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { withVariables } from '../../../../helpers/withVariables.ts';
import { until } from '../../../../workbench/until.ts';

const URL = 'postgresql://me:secret@127.0.0.1:5000/app';
const never = new AbortController().signal;

describe('The command of a rehearsal', () => {
  let assumed: AssumedVariables[];
  const noteAssumed = (variables: AssumedVariables) => void assumed.push(variables);
  beforeEach(() => (assumed = []));

  const run = async (command: string, signal = never, folder = temporaryFolder()) => {
    let text = '';
    const output = { write: (more: string) => void (text += more), noteAssumed };
    const code = await runMigrationCommand({ command, folder, url: URL }, output, signal);
    return { code, text };
  };

  it('finds the copy in its environment, and no other database', async () => {
    const folder = temporaryFolder();
    await withVariables({ PGHOST: 'production.example', PGSERVICE: 'other' }, async () => {
      const script =
        'const e = process.env; console.log(e.DATABASE_URL, e.PGHOST, e.PGSERVICE, process.cwd())';
      const { code, text } = await run(`"${process.execPath}" -e "${script}"`, never, folder);
      assert.deepEqual([code, text], [0, `${URL} 127.0.0.1 undefined ${realpathSync(folder)}\n`]);
    });
  });

  it('says which variables it has replaced because they may lead to another database', async () => {
    const shop = { SHOP_HOST: 'production.example', SHOP_USER: 'me' };
    await withVariables(shop, async () => {
      const { text } = await run(`"${process.execPath}" -p "process.env.SHOP_HOST"`);
      assert.equal(text, '127.0.0.1\n');
      assert.deepEqual(assumed, [{ names: ['SHOP_HOST', 'SHOP_USER'], services: 'SHOP_' }]);
    });
  });

  it('returns its exit code, and what it writes about an error', async () => {
    const { code, text } = await run(`"${process.execPath}" -e "console.error('wrong'); process.exit(7)"`);
    assert.deepEqual([code, text], [7, 'wrong\n']);
  });

  it('does not wait for what it has left running, and ends it', async () => {
    const folder = temporaryFolder();
    const stays = `"${process.execPath}" -e "setInterval(() => {}, 1000)" & echo $! > pid; echo done`;
    assert.deepEqual(await run(stays, never, folder), { code: 0, text: 'done\n' });
    const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
    await until('its end', async () => !isAlive(pid));
  });

  it('is not started if it was canceled before', async () => {
    const folder = temporaryFolder();
    const ended = await run('echo started > file', AbortSignal.abort(), folder);
    assert.deepEqual(ended, { code: undefined, text: '' });
    assert.deepEqual(readdirSync(folder), []);
  });

  it('ends with all that it has started when it is canceled', async () => {
    const folder = temporaryFolder();
    const cancel = new AbortController();
    const waits = `require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)`;
    const running = run(`"${process.execPath}" -e "${waits}" && echo end`, cancel.signal, folder);
    const pid = await until('its process', async () => {
      try {
        return Number(readFileSync(path.join(folder, 'pid'), 'utf8')) || undefined;
      } catch {
        return undefined;
      }
    });
    cancel.abort();
    assert.notEqual((await running).code, 0);
    await until('its end', async () => !isAlive(pid));
  });
});
