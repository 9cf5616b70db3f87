import assert from 'node:assert/strict';
import type { Compute, Operation, PostgresSession } from '../../../../src/api/records/records.ts';
import { ENGLISH } from '../../../../src/base/translator.ts';
import { whyActiveText } from '../../../../src/extension/computes/whyActiveText.ts';
import {
  whyActive,
  type ActivityFacts,
  type ActivityCause,
} from '../../../../src/extension/computes/whyActive.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const minute = 60;
const at = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();
const compute: Compute = {
  id: 'ep-one',
  host: 'ep-one.example',
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_write',
  current_state: 'active',
  autoscaling_limit_min_cu: 2,
  suspend_timeout_seconds: 0,
  last_active: at(5),
  created_at: at(30 * 24 * 3600),
};
const local = { ...compute, host: '127.0.0.1:15432' };
const operation = (action: string, secondsAgo: number, more: Partial<Operation> = {}): Operation => ({
  id: `${action} ${secondsAgo}`,
  project_id: 'shop',
  endpoint_id: 'ep-one',
  action,
  status: 'finished',
  total_duration_ms: 500,
  created_at: at(secondsAgo),
  ...more,
});
const client = (state: string, more: Partial<PostgresSession> = {}): PostgresSession => ({
  id: '1',
  type: 'client backend',
  application: 'worker',
  role: 'app',
  state,
  connected_for: 2 * minute,
  state_for: 1 * minute,
  ...more,
});
const inTransaction = client('idle in transaction', { transaction_for: 29 * minute });
const started = [operation('start_compute', 31 * minute)];
/** Starts every ten minutes, and five minutes of use after each. */
const polled = Array.from({ length: 14 }, (_, index) => [
  operation('suspend_compute', index * 600 + 30),
  operation('start_compute', index * 600 + 330),
]).flat();

const STAGED: readonly (readonly [
  what: string,
  facts: Partial<ActivityFacts>,
  cause: ActivityCause,
  text: RegExp,
])[] = [
  [
    'idle in transaction',
    { sessions: [client('idle'), inTransaction] },
    'idleInTransaction',
    /^Active for 31 min: session “worker” idle in transaction for 29 min\. Suspends 5 min after that ends\./,
  ],
  [
    'a poller with one connection',
    { sessions: [client('idle', { state_for: 12, connected_for: 7200 })] },
    'pollingSession',
    /: session “worker” polling, with its last statement 12 sec ago\. Suspends 5 min after that ends\./,
  ],
  [
    'a poller that connects each minute',
    { sessions: [] },
    'repeatedUse',
    /clients come and go, and none is connected now\. Suspends in 5 min/,
  ],
  [
    'no use while psql of a hosted compute is open',
    {
      sessions: [client('idle', { application: 'psql', state_for: 240 })],
      operations: [...started, operation('start_compute', 90 * minute)],
      compute: { ...compute, last_active: at(270) },
    },
    'unused',
    /: not used for 4 min\. Suspends in 60 sec/,
  ],
  [
    'a start in the future, by a clock that is behind',
    { compute: { ...compute, started_at: at(-100), last_active: at(-100) }, sessions: [] },
    'unused',
    /^Active for 0 sec: not used for 0 sec\./,
  ],
  [
    'a cron job that starts it',
    { sessions: [], operations: polled.slice(1), compute: { ...compute, last_active: at(200) } },
    'scheduled',
    /: started on a schedule\. Suspends in 100 sec\. Started 14 times in the last day, every 10 min or so: something polls\./,
  ],
  [
    'pg_cron',
    { sessions: [client('active', { application: 'pg_cron' })] },
    'cron',
    /scheduled job session “pg_cron”/,
  ],
  [
    'LISTEN',
    { compute: local, sessions: [client('idle', { command: 'LISTEN', state_for: 600 })] },
    'listen',
    /listening for notifications for 10 min\. .* The public service .* would suspend this compute/,
  ],
  [
    'logical replication',
    {
      sessions: [
        { ...client('active', { type: 'walsender' }), application: 'sub', slot: 'mine', lag: 2.34e6 },
      ],
    },
    'logicalReplication',
    /logical replication to session “sub” by the slot “mine”, 2\.3 MB behind/,
  ],
  [
    'only autovacuum',
    {
      sessions: [client('active', { type: 'autovacuum worker' })],
      compute: { ...compute, last_active: at(120) },
    },
    'autovacuum',
    /only autovacuum is running, which doesn't keep it active\. Suspends in 3 min/,
  ],
  [
    'PgBouncer',
    { compute: local, sessions: [client('idle', { state_for: 2 })], pooledClients: 3 },
    'pooled',
    /PgBouncer/,
  ],
  [
    'an agent',
    { sessions: [client('active', { application: 'Hosted Postgres agent' })] },
    'agent',
    /agent session “Hosted Postgres agent”/,
  ],
  [
    'psql left open',
    { compute: local, sessions: [client('idle', { application: 'psql', state_for: 7200 })] },
    'psql',
    /psql left open, idle for 2 hr\. .*statements, not connections/,
  ],
  [
    'an idle pool of connections',
    { compute: local, sessions: [client('idle', { application: '' })] },
    'idleSession',
    /a session of “app” connected, but idle for 60 sec/,
  ],
  [
    'disabled suspension',
    { compute: { ...compute, suspend_timeout_seconds: -1 }, sessions: [inTransaction] },
    'neverSuspends',
    /: autosuspend is off; clients connected: 1\. About 1\.0 CU-hours/,
  ],
  ['COPY', { sessions: [client('active', { is_copying: true })] }, 'copyingData', /copying data for 60 sec/],
  [
    'a copy to a new branch',
    {
      compute: local,
      sessions: [],
      operations: [...started, operation('create_branch', 60, { endpoint_id: undefined, status: 'running' })],
    },
    'branchCopy',
    /its data is being copied to a new branch\. Suspends 5 min after/,
  ],
  [
    'a prepared transaction',
    {
      compute: { ...compute, last_active: at(120) },
      sessions: [{ id: 'two-phase', type: 'prepared transaction', transaction_for: 7200 }],
    },
    'preparedTransaction',
    /prepared transaction “two-phase”, open for 2 hr, doesn't keep it active\. Suspends in 3 min/,
  ],
  [
    'a long query',
    { sessions: [client('active', { state_for: 900 })] },
    'query',
    /running a statement for 15 min/,
  ],
  [
    'a lock',
    { sessions: [client('active', { is_blocked: true }), inTransaction] },
    'blocked',
    /waiting for a lock/,
  ],
  [
    'a connection flood',
    { sessions: Array.from({ length: 97 }, () => client('idle')) },
    'connectionFlood',
    /97 clients are connected, most like session “worker”/,
  ],
  [
    'just started',
    {
      sessions: [],
      operations: [operation('start_compute', 20)],
      compute: { ...compute, last_active: at(19) },
    },
    'started',
    /^Active for 20 sec: started, and not used since\. Suspends in 5 min/,
  ],
  [
    'recently restarted',
    {
      sessions: [],
      operations: [operation('start_compute', 60), operation('suspend_compute', 61)],
      compute: { ...compute, last_active: at(59) },
    },
    'restarted',
    /: restarted, and not used since\. Suspends in 4 min\./,
  ],
  ['init', { compute: { ...compute, current_state: 'init' }, operations: [] }, 'starting', /^Starting\.$/],
  [
    'provisioning',
    { compute: { ...compute, current_state: 'idle', pending_state: 'active' } },
    'starting',
    /^Starting\./,
  ],
  [
    'a restart in progress',
    { compute: { ...compute, pending_state: 'active' } },
    'changing',
    /^A change is in progress\./,
  ],
  [
    'suspended',
    { compute: { ...compute, current_state: 'idle', last_active: at(7300) }, operations: polled },
    'suspended',
    /^Idle, and last active 2 hr ago\. It starts when somebody connects\. Started 14 times in the last day, every 10 min or so: something polls\./,
  ],
  ['disabled', { compute: { ...compute, current_state: 'idle', disabled: true } }, 'disabled', /^Disabled\./],
  [
    'a read replica with clients that come and go',
    { compute: { ...compute, type: 'read_only', last_active: at(240) }, sessions: [], operations: [] },
    'repeatedUse',
    /^Read replica\. Active for 24 hr: clients come and go/,
  ],
  ['use without a look at the sessions', {}, 'inUse', /: in use\. Suspends 5 min after that ends\./],
  [
    'a delay that still runs',
    { compute: { ...compute, last_active: at(240) } },
    'unused',
    /not used for 4 min\. Suspends in 60 sec/,
  ],
];

describe('Why a compute is active', () => {
  for (const [what, facts, cause, text] of STAGED)
    it(`names ${what}`, () => {
      const why = whyActive({ compute, now: NOW, operations: started, ...facts });
      const sentence = whyActiveText(why, ENGLISH);
      assert.equal(why.cause, cause, sentence);
      assert.match(sentence, text);
    });

  it('names the program of a session, without control characters', () => {
    const textOf = (session: PostgresSession) => {
      const why = whyActive({ compute: local, now: NOW, operations: started, sessions: [session] });
      return whyActiveText({ ...why, client: { program: 'no\u202ede', pid: 43_127 } }, ENGLISH);
    };
    assert.match(textOf(inTransaction), /: session “worker” \(no de, process 43127\) idle in transaction/);
    assert.match(
      textOf(client('idle', { application: 'psql' })),
      /: psql left open \(process 43127\), idle for/,
    );
  });

  it('compares with the public service only after its delay', () => {
    const isLocalRule = (...idleFor: readonly number[]) =>
      whyActive({
        compute: local,
        now: NOW,
        operations: started,
        sessions: idleFor.map((state_for) => client('idle', { application: 'grafana', state_for })),
      }).isLocalRule;
    assert.equal(isLocalRule(90), false);
    assert.equal(isLocalRule(600, 90), false);
    assert.equal(isLocalRule(600, 300), true);
  });

  it('suspends an idle session of the public service, and counts its last statement', () => {
    const sessions = [client('idle', { application: 'psql', state_for: 240 })];
    const why = whyActive({
      compute: { ...compute, last_active: at(270) },
      now: NOW,
      operations: started,
      sessions,
    });
    assert.deepEqual([why.suspendsIn, why.suspendsAfter], [60, undefined]);
  });
});
