/**
 * Causes staged on a real service: each is named, with one request, without a start and without a use of the compute.
 * Timers: extension/computes/ui/whyActiveSentences.ts, extension/computes/readSessions.ts.
 */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { Client } from '../../../../src/api/client.ts';
import type { Compute } from '../../../../src/api/records/records.ts';
import { whyActiveSentence } from '../../../../src/extension/computes/whyActiveSentence.ts';
import { ENGLISH } from '../../../../src/base/translator.ts';
import { readSessions } from '../../../../src/extension/computes/readSessions.ts';
import { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import { connectionUri } from '../../../helpers/connectionUri.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { connectTo } from '../../service/postgres/clients.ts';

type Stage = (database: Database) => Promise<unknown>;

/** Connections to one compute, and changes of it, as users and programs make them. */
interface Database {
  readonly uri: string;
  readonly pooledUri: string;
  readonly open: (options?: pg.ClientConfig) => Promise<pg.Client>;
  /** Begins a statement that doesn't end. */
  readonly begin: (sql: string, options?: pg.ClientConfig) => Promise<void>;
  readonly change: (change: (client: Client, compute: Compute) => Promise<unknown>) => Promise<void>;
}

/** What follows the name of a session. This process is the client. */
const PROGRAM = process.platform === 'win32' ? '' : String.raw` \(node, process ${process.pid}\)`;

const CAUSES: readonly (readonly [what: string, stage: Stage, text: RegExp])[] = [
  [
    'idle in transaction',
    async ({ open }) => (await open({ application_name: 'worker' })).query('begin; select 1'),
    new RegExp(
      String.raw`^Active.*: session “worker”${PROGRAM} idle in transaction for \d+ sec\. Suspends 5 min after that ends\.`,
    ),
  ],
  [
    'a failed transaction left open',
    async ({ open }) => (await open()).query('begin; select 1 / 0').catch(() => undefined),
    new RegExp(String.raw`a session of “\w+”${PROGRAM} idle in transaction for \d+ sec`),
  ],
  [
    'psql left open',
    ({ open }) => open({ application_name: 'psql' }),
    /psql left open(?: \(process \d+\))?, idle for \d+ sec\. Suspends 5 min after that ends\./,
  ],
  [
    'an idle connection of a program',
    ({ open }) => open(),
    new RegExp(`a session of “\\w+”${PROGRAM} connected, but idle`),
  ],
  [
    'an idle connection with TLS',
    ({ open }) => open({ ssl: { rejectUnauthorized: false } }),
    new RegExp(`a session of “\\w+”${PROGRAM} connected, but idle`),
  ],
  ['LISTEN', async ({ open }) => (await open()).query('listen jobs'), /listening for notifications/],
  ['a long statement', ({ begin }) => begin('select pg_sleep(300)'), /running a statement/],
  [
    'a lock',
    async ({ open, begin }) => {
      const owner = await open();
      await owner.query('create table if not exists t ()');
      await owner.query('begin; lock table t');
      await begin('begin; lock table t', { application_name: 'waiter' });
    },
    /session “waiter”.* waiting for a lock/,
  ],
  [
    'a statement after a comment about copies',
    ({ begin }) => begin('/* copy job */ select pg_sleep(300)', { application_name: 'datadog-agent' }),
    /: session “datadog-agent”.* running a statement/,
  ],
  [
    'LISTEN after a comment',
    async ({ open }) => (await open()).query('-- name: Listen :exec\nlisten jobs'),
    /listening for notifications/,
  ],
  ['COPY', ({ begin }) => begin('copy (select pg_sleep(300)) to stdout'), /copying data/],
  [
    'an agent',
    ({ begin }) => begin('select pg_sleep(300)', { application_name: 'Hosted Postgres agent' }),
    /agent session “Hosted Postgres agent”/,
  ],
  [
    'a scheduled job',
    ({ begin }) => begin('select pg_sleep(300)', { application_name: 'pg_cron' }),
    /scheduled job/,
  ],
  [
    'a connection flood',
    ({ open }) => Promise.all(Array.from({ length: 60 }, () => open({ application_name: 'pool' }))),
    /: 6\d clients are connected, most like session “pool”/,
  ],
  [
    'disabled suspension',
    ({ change }) =>
      change((client, { project_id, id }) =>
        client.updateCompute(project_id, id, { suspend_timeout_seconds: -1 }),
      ),
    /autosuspend is off; clients connected: 0/,
  ],
  [
    'a restart',
    async ({ change }) => {
      await change((client, { project_id, id }) =>
        client.updateCompute(project_id, id, { suspend_timeout_seconds: 0 }),
      );
      await change((client, { project_id, id }) => client.restartCompute(project_id, id));
    },
    /restarted, and not used since\. Suspends in [45] min/,
  ],
  [
    'a disabled compute',
    ({ change }) =>
      change((client, { project_id, id }) =>
        client.updateCompute(project_id, id, { disabled: true, suspend_timeout_seconds: 0 }),
      ),
    /^Disabled\./,
  ],
  [
    'a start after that',
    async ({ change }) => {
      await change((client, { project_id, id }) => client.updateCompute(project_id, id, { disabled: false }));
      await change((client, { project_id, id }) => client.startCompute(project_id, id));
    },
    /started, and not used since/,
  ],
  [
    'a suspension',
    ({ change }) => change((client, { project_id, id }) => client.suspendCompute(project_id, id)),
    /^Idle, and last active \d+ sec ago/,
  ],
  [
    'a start',
    ({ change }) => change((client, { project_id, id }) => client.startCompute(project_id, id)),
    /started, and not used since\. Suspends in [45] min/,
  ],
  [
    'a prepared transaction',
    async ({ open, change }) => {
      const settings = { pg_settings: { max_prepared_transactions: '2' } };
      await change((client, { project_id, id }) => client.updateCompute(project_id, id, { settings }));
      const client = await open();
      await client.query("begin; select pg_current_xact_id(); prepare transaction 'two-phase'");
      await client.end();
    },
    /no client in use; the prepared transaction “two-phase”/,
  ],
];

describe('Why a compute of the local service is active', () => {
  let service: LocalService;
  let compute: Compute;
  let uris: Pick<Database, 'uri' | 'pooledUri'>;
  let requests = 0;

  const current = async () => {
    const { items } = await service.client.listComputes(compute.project_id);
    const found = items.find(({ id }) => id === compute.id);
    assert.ok(found);
    return found;
  };
  const settled = () =>
    until('no change in progress', async () => ((await current()).pending_state ?? '') === '');

  before(async () => {
    service = await startLocalService();
    const page = await service.client.projectPages().next();
    const { items } = await service.client.listComputes(page.value?.items[0]?.id ?? '');
    const found = items.find(({ type }) => type === 'read_write');
    assert.ok(found);
    compute = found;
    await settled();
    await service.client.updateCompute(compute.project_id, compute.id, { pooler_enabled: true });
    await settled();
    compute = await current();
    const [database] = (await service.client.listDatabases(compute.project_id, compute.branch_id)) ?? [];
    assert.ok(database);
    const login = { role: database.owner_name, database: database.name };
    const ids = { computeId: compute.id, branchId: compute.branch_id };
    const uri = (host: string, pooled: boolean) =>
      connectionUri(service.client, compute.project_id, { ...ids, ...login, pooled, host });
    uris = { uri: await uri(compute.host, false), pooledUri: await uri(compute.pooler_host ?? '', true) };
    await service.client.startCompute(compute.project_id, compute.id);
    await settled();
  });

  /** Asks as the extension does, and asserts what asking must not do. */
  const ask = async () => {
    const fetch: typeof globalThis.fetch = (url, init) => {
      requests += 1;
      return globalThis.fetch(url, init);
    };
    const { baseUrl, key } = service;
    const client = new Client({ baseUrl, key, fetch });
    const connection = new AccountConnection({ baseUrl, name: '', local: true }, key, async () => client);
    const before = await current();
    requests = 0;
    const sentence = await whyActiveSentence(connection, before, ENGLISH, { asksPostgres: true });
    assert.equal(requests, 1);
    const after = await current();
    assert.deepEqual(
      [after.current_state, after.pending_state],
      [before.current_state, before.pending_state],
    );
    return sentence ?? '';
  };

  for (const [what, stage, text] of CAUSES)
    it(`names ${what}`, async () => {
      const clients: pg.Client[] = [];
      const open = async (options?: pg.ClientConfig) => {
        const client = await connectTo(uris.uri, options);
        clients.push(client);
        return client;
      };
      const begin = async (sql: string, options?: pg.ClientConfig) => {
        void (await open(options)).query(sql).catch(() => undefined);
      };
      const change: Database['change'] = async (call) => {
        await call(service.client, compute);
        await settled();
      };
      try {
        await stage({ ...uris, open, begin, change });
        await until(what, async () => text.test(await ask()));
      } finally {
        await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
        await until('no connections', async () => {
          const found = await service.client.findCompute(compute.project_id, compute.id);
          return found?.connections === 0;
        });
      }
    });

  it('names the program whose connection PgBouncer does not share', async function () {
    if (compute.pooled_sessions === 'shared') this.skip();
    await connectTo(uris.pooledUri);
    await until('the program', async () =>
      new RegExp(`a session of “\\w+”${PROGRAM} connected`).test(await ask()),
    );
  });

  it('names PgBouncer, if its clients use it', async function () {
    if (compute.pooled_sessions !== 'shared') this.skip();
    const client = await connectTo(uris.pooledUri);
    await until('PgBouncer', async () => {
      await client.query('select 1');
      return /statements through PgBouncer/.test(await ask());
    });
  });

  it('does not count as a use of the compute', async () => {
    const use = async () => (await current()).last_active;
    await until('no connections', async () => {
      const found = await service.client.findCompute(compute.project_id, compute.id);
      return found?.connections === 0;
    });
    const before = await use();
    for (let times = 0; times < 20; times += 1) await ask();
    assert.equal(await use(), before);
  });

  it('is read by a client as well, without its own session', async () => {
    const { username: role, password, pathname } = new URL(uris.uri);
    const login = { role, password, database: pathname.slice(1), host: compute.host };
    await connectTo(uris.uri, { application_name: 'worker' });
    const sessions = await readSessions(login, new AbortController().signal);
    assert.deepEqual(
      sessions.filter(({ type }) => type === 'client backend').map(({ application }) => application),
      ['worker'],
    );
  });
});
