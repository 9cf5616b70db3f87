/**
 * zero-cache of @rocicorp/zero as an owner, with a publication that was made before, if
 * `node scripts/installClients.ts FOLDER` has installed it in CLIENTS_FOLDER.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { atEndOfTest } from '../../helpers/atEndOfTest.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { eventually, query, runStatements } from '../service/postgres/clients.ts';
import { useBranch } from '../service/postgres/useBranch.ts';

const zero = path.join(process.env['CLIENTS_FOLDER'] ?? '', 'node_modules/@rocicorp/zero');
/** Its copies take seconds, and its restarts wait. Milliseconds. */
const LIMIT = 120_000;
/** Prints the rows of the copy. Its file can be read by its own SQLite only. */
const PRINT_ROWS = `const Database = require('@rocicorp/zero-sqlite3');
console.log(new Database(process.argv[1]).prepare("select id || word as row from items order by id").all().map(({ row }) => row).join());`;

describe('zero-cache as an owner', () => {
  const branch = useBranch({ logicalReplication: true });
  const file = path.join(temporaryFolder(), 'copy.db');
  let program: ChildProcess | undefined;
  let output = '';

  before(async function () {
    if (!existsSync(zero)) return this.skip();
    await runStatements(
      branch.uri,
      'create table items (id int primary key, word text)',
      "insert into items values (1, 'before')",
      'create publication zero_data for table items',
    );
  });

  function start(): void {
    const [port, change] = [20_000, 20_001].map((first) => String(first + (process.pid % 1000) * 10));
    output = '';
    const child = spawn(process.execPath, [path.join(zero, '../../.bin/zero-cache')], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ZERO_UPSTREAM_DB: branch.uri,
        ZERO_REPLICA_FILE: file,
        ZERO_APP_PUBLICATIONS: 'zero_data',
        ZERO_NUM_SYNC_WORKERS: '1',
        ZERO_PORT: port,
        ZERO_CHANGE_STREAMER_PORT: change,
        ZERO_ENABLE_TELEMETRY: 'false',
        ZERO_ADMIN_PASSWORD: 'x',
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += String(chunk)));
    program = child;
  }

  async function stop(): Promise<void> {
    if (program?.pid === undefined || program.exitCode !== null) return;
    const closed = once(program, 'close');
    process.kill(-program.pid);
    await closed;
  }

  const copied = async (): Promise<string> =>
    (
      await promisify(execFile)(process.execPath, ['-e', PRINT_ROWS, file], { cwd: zero }).catch(() => ({
        stdout: '',
      }))
    ).stdout.trim();
  /** Waits until the copy is that of all rows. */
  const isCopied = async () => {
    const rows = (await query(branch.uri, 'select id || word from items order by id')).join();
    await eventually(async () => (await copied()) === rows, LIMIT);
  };
  const add = async (id: number) => query(branch.uri, `insert into items values (${id}, 'word ${id}')`);
  const slots = () => query(branch.uri, 'select slot_name::text from pg_replication_slots');

  it('copies, and follows over a suspension and its own restart', async () => {
    atEndOfTest(stop);
    start();
    await isCopied();
    await add(2);
    await query(branch.uri, "update items set word = 'after' where id = 1");
    await isCopied();
    await branch.service.engine.suspend(branch.compute.id);
    await add(3);
    await isCopied();
    await stop();
    await add(4);
    start();
    await isCopied();
    assert.doesNotMatch(output, /initial sync|Synced/);
    await stop();
  });

  it('copies again after a change of the schema, and without its file, and leaves one slot', async () => {
    atEndOfTest(stop);
    const [first] = await slots();
    start();
    await add(5);
    await isCopied();
    await query(branch.uri, 'alter table items add column more text');
    await query(branch.uri, "insert into items values (6, 'six', 'more')");
    await eventually(() => program?.exitCode !== null, LIMIT);
    start();
    await isCopied();
    await eventually(async () => (await slots()).length === 1 && (await slots())[0] !== first, LIMIT);
    await stop();
    for (const end of ['', '-wal', '-wal2', '-shm']) rmSync(`${file}${end}`, { force: true });
    start();
    await isCopied();
    await add(7);
    await isCopied();
    await eventually(async () => (await slots()).length === 1, LIMIT);
    await stop();
    assert.doesNotMatch(output, /permission denied|42501/);
  });
});
