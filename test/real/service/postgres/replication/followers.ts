/** Programs that follow the changes of a database, each as its package has it, and what each of them has got. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { LogicalReplicationService, PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';
import postgres from 'postgres';
import { createSlot, replicate } from './replicate.ts';

/** Rows by table and key. */
export type Tables = Map<string, Map<string, Record<string, unknown>>>;

export interface Follower {
  stop(): Promise<void>;
}

/**
 * Postgres 18.4 sends a Stream Abort, which it wasn't asked for, if a transaction is rolled back that was too large for
 * `logical_decoding_work_mem` and has a released savepoint. The package doesn't know that (`findings/sync-stream-abort-unasked.sh`).
 */
class PluginWithStreamAbort extends PgoutputPlugin {
  override parse(buffer: Buffer): Pgoutput.Message {
    const isStreamAbort = buffer[0] === 'A'.codePointAt(0);
    return isStreamAbort ? { tag: 'origin', originLsn: null, originName: '' } : super.parse(buffer);
  }
}

/** pg-logical-replication, which is called again after each end. */
export async function followWithPackage(
  uri: string,
  publication: string,
): Promise<Follower & { readonly tables: Tables }> {
  const maker = await replicate(uri);
  await maker.query('CREATE_REPLICATION_SLOT package LOGICAL pgoutput');
  await maker.end();
  const tables: Tables = new Map();
  const service = new LogicalReplicationService({ connectionString: uri });
  const receive = inTransactions((message) => apply(tables, message));
  service.on('data', (_lsn: string, message: Pgoutput.Message) => receive(message));
  service.on('error', () => undefined);
  // It removes its listeners before its connection has ended, and an error then would end the process.
  service.on('start', () => {
    const { _client: client } = service as unknown as { readonly _client: NodeJS.EventEmitter };
    client.removeAllListeners = () => client;
  });
  let isOver = false;
  const plugin = new PluginWithStreamAbort({ protoVersion: 1, publicationNames: [publication] });
  const following = (async () => {
    while (!isOver) await service.subscribe(plugin, 'package').catch(() => undefined);
  })();
  return {
    tables,
    async stop() {
      isOver = true;
      await service.destroy();
      await following;
    },
  };
}

/**
 * Applies a transaction when it is complete, and once. After an end in the middle, it comes again from its start, and so may earlier
 * ones: an update that has moved a row to another key would find neither the row nor the value that isn't sent with it.
 */
function inTransactions(apply: (message: Pgoutput.Message) => void) {
  let changes: Pgoutput.Message[] = [];
  let applied = '';
  return (message: Pgoutput.Message) => {
    if (message.tag === 'begin') changes = [];
    else if (message.tag !== 'commit') changes.push(message);
    else if (message.commitEndLsn !== null && message.commitEndLsn > applied) {
      changes.forEach(apply);
      applied = message.commitEndLsn;
    }
  };
}

/** Keeps the rows as the messages say. */
function apply(tables: Tables, message: Pgoutput.Message): void {
  if (message.tag === 'truncate') for (const { name } of message.relations) tables.get(name)?.clear();
  if (message.tag !== 'insert' && message.tag !== 'update' && message.tag !== 'delete') return;
  const { name, keyColumns } = message.relation;
  const rows = tables.get(name) ?? new Map<string, Record<string, unknown>>();
  tables.set(name, rows);
  const keyOf = (row: Record<string, unknown>) => keyColumns.map((column) => String(row[column])).join('/');
  const isInsert = message.tag === 'insert';
  const key = isInsert
    ? undefined
    : (message.key ?? message.old ?? (message.tag === 'update' && message.new));
  const before = key ? rows.get(keyOf(key)) : undefined;
  if (key) rows.delete(keyOf(key));
  if (message.tag === 'delete') return;
  // A large value that hasn't changed isn't sent again.
  const sent = Object.entries(message.new).filter(([, value]) => value !== undefined);
  rows.set(keyOf(message.new), { ...before, ...Object.fromEntries(sent) });
}

/**
 * postgres.js, which gets what is committed while it is connected. By its source, a Stream Abort ends the process with a TypeError. None is
 * sent for transactions that fit in the memory for decoding.
 * @returns the ids of inserted rows, which grow
 */
export async function subscribe(uri: string, table: string): Promise<Follower & { readonly ids: number[] }> {
  const connection = { options: '-c logical_decoding_work_mem=1GB' };
  const sql = postgres(uri, { max: 1, publications: 'changes', connection });
  const ids: number[] = [];
  await sql.subscribe(`insert:${table}`, (row) => void ids.push(Number(row?.['id'])));
  return { ids, stop: async () => sql.end({ timeout: 1 }) };
}

/**
 * pg_recvlogical, which is killed and started again.
 * @returns undefined if it isn't installed
 */
export async function receiveWithProgram(uri: string, pattern: RegExp) {
  const { port, username, password } = new URL(uri);
  const login = ['-h', '127.0.0.1', '-p', port, '-U', username, '-d', 'app', '-S', 'program'];
  const run = (...args: string[]) =>
    spawn('pg_recvlogical', [...login, ...args], { env: { ...process.env, PGPASSWORD: password } });
  const probe = spawn('pg_recvlogical', ['--version']);
  if (
    typeof (await new Promise((resolve) => probe.once('error', resolve).once('close', resolve))) !== 'number'
  )
    return undefined;
  await createSlot(uri, 'program');
  const ids: number[] = [];
  let isOver = false;
  let child: ChildProcess | undefined;
  const receiving = (async () => {
    while (!isOver) {
      // By default, it confirms what it has written each ten seconds, and one that ends sooner begins again where it began.
      child = run('--start', '--no-loop', '-f', '-', '--status-interval=1', '--fsync-interval=1');
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        text += String(chunk);
        for (const [, id] of text.matchAll(pattern)) ids.push(Number(id));
        text = text.slice(text.lastIndexOf('\n') + 1);
      });
      await once(child, 'close');
    }
  })();
  return {
    ids,
    kill: () => child?.kill('SIGKILL'),
    async stop() {
      isOver = true;
      child?.kill();
      await receiving;
    },
  };
}
