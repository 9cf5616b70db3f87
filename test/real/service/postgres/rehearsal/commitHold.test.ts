/** What becomes of commits when the connection that holds them is lost. Timers: service/postgres/rehearsal/commitHold.ts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type Client from 'pg/lib/client.js';
import type pg from 'pg';
import { CommitHold, releaseCommits } from '../../../../../src/service/postgres/rehearsal/commitHold.ts';
import { readPostmasterPid } from '../../../../../src/service/postgres/server/postmaster.ts';
import { signalServer } from '../../../../../src/service/postgres/server/serverProcess.ts';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { answers, connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, superuserUri, type ControlPlane } from '../controlPlane.ts';
import { usualPostgres } from '../usualPostgres.ts';

const HOLDER = `select pid from pg_stat_replication`;
const KILL_HOLDER = `select pg_terminate_backend(pid, 10000) from pg_stat_replication`;

describe('The standby of a rehearsal', () => {
  let plane: ControlPlane;
  let uri: string;
  let admin: pg.Client;
  let reads: number;

  before(async () => {
    plane = await startControlPlane();
    uri = await plane.uri(await plane.create());
    await query(uri, 'create table t (id int)');
  });
  after(() => plane.close());
  beforeEach(async () => {
    admin = await connectTo(superuserUri(plane, uri).replace(/app$/, 'postgres'));
    reads = 0;
  });

  /** @param beforeReload called before the server gets to know that commits wait */
  const heldServer = (beforeReload: () => Promise<unknown> = async () => undefined) => {
    const dataDir = path.join(storageOf(plane), 'branches/br-main/data');
    const [, , , port, socket, host] = readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    const { pid } = readPostmasterPid(dataDir) ?? assert.fail();
    const address = { host: socket?.trim() || (host ?? ''), port: Number(port) };
    const reload = () =>
      void beforeReload().then(() => signalServer(usualPostgres().postgres, pid, 'SIGHUP'));
    return { address, dataDir, reload };
  };
  const hold = async (
    client: Pick<pg.Client, 'query'> = admin,
    server: ReturnType<typeof heldServer> = heldServer(),
  ): Promise<CommitHold> => {
    const logins = JSON.parse(readFileSync(path.join(storageOf(plane), 'logins.json'), 'utf8'));
    const probe = await connectTo(superuserUri(plane, uri));
    const sessions = {
      asAdmin: async <T>(work: (admin: Client) => Promise<T>) => work(client as Client),
      probe: probe as unknown as Client,
    };
    try {
      return await CommitHold.start({ logins }, server, sessions, {
        readLocks: async () => void (reads += 1),
        lost: () => undefined,
      });
    } finally {
      await probe.end();
    }
  };
  const commit = async () => query(uri, 'insert into t values (1) returning id');

  it('lets commits go when Postgres has restarted after the crash of a session', async function () {
    if (process.platform === 'win32') this.skip();
    await plane.engine.startRehearsal('br-main', 'ep-1');
    const client = await connectTo(uri);
    const [pid] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
    // Until Postgres has noticed the crash, it still answers. Then it ends all sessions.
    const other = await connectTo(uri);
    const noticed = new Promise((resolve) => other.once('end', resolve));
    process.kill(pid?.pid ?? assert.fail(), 'SIGKILL');
    await noticed;
    await answers(uri);
    assert.deepEqual(await commit(), [1]);
  });

  it('fails if its connection is lost before commits wait, and then none does', async () => {
    await assert.rejects(
      hold(
        admin,
        heldServer(async () => admin.query(KILL_HOLDER)),
      ),
      /connection that holds commits was lost/,
    );
    assert.deepEqual(await commit(), [1]);
  });

  it('fails also if its connection is lost while the answer that commits wait is on its way', async () => {
    const late = async (sql: string, values: unknown[]) => {
      const answer = await admin.query(sql, values);
      if (answer.rows.length > 0) await admin.query(KILL_HOLDER);
      await eventually(async () => answer.rows.length === 0 || (await admin.query(HOLDER)).rows.length === 0);
      return answer;
    };
    await assert.rejects(
      hold({ query: late } as unknown as Pick<pg.Client, 'query'>),
      /connection that holds commits was lost/,
    );
    assert.deepEqual(await commit(), [1]);
  });

  it('resolves only when commits wait, also if the checkpointer reads the configuration late', async function () {
    if (process.platform === 'win32') this.skip();
    const sql = "select pid from pg_stat_activity where backend_type = 'checkpointer'";
    const [checkpointer] = (await admin.query<{ pid: number }>(sql)).rows;
    const stop = (signal: NodeJS.Signals) => process.kill(checkpointer?.pid ?? assert.fail(), signal);
    let isHeld = false;
    stop('SIGSTOP');
    const holding = hold().finally(() => (isHeld = true));
    try {
      await eventually(
        async () => (await admin.query(`${HOLDER} where sync_state = 'sync'`)).rows.length > 0,
      );
      // Postgres has accepted the standby, and these don't wait for it.
      for (let commits = 0; commits < 3; commits += 1) await commit();
      assert(!isHeld);
    } finally {
      stop('SIGCONT');
    }
    const held = await holding;
    try {
      const before = reads;
      await commit();
      assert.ok(reads > before);
    } finally {
      await held.end();
      await releaseCommits(heldServer());
    }
  });

  it('leaves nothing when it fails late, so that the next attempt sees all commits', async () => {
    const refused = { query: () => Promise.reject(new Error('refused')) } as Pick<pg.Client, 'query'>;
    await assert.rejects(hold(refused), /^Error: refused$/);
    await eventually(async () => (await admin.query(HOLDER)).rows.length === 0);
    assert.deepEqual(await commit(), [1]);
    const holding = await hold();
    const before = reads;
    await commit();
    assert.ok(reads > before);
    await holding.end();
  });
});
