/** The public service's tools turn on logical replication, unmodified, and look at its slots. */
import assert from 'node:assert/strict';
import { createApiClient } from '@neondatabase/api-client';
import { createNeonClient } from '@neon/sdk';
import { branchCalls, emptyAccount } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { neonCli } from '../../helpers/neonCli.ts';
import { eventually, query } from '../service/postgres/clients.ts';
import { createSlot, receive, replicate } from '../service/postgres/replication/replicate.ts';

describe('Logical replication is turned on', () => {
  let service: LocalService;
  const run = neonCli(() => service);
  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
  });
  const create = async (name: string) => branchCalls(service).change('POST', '', { project: { name } });
  const settings = { enable_logical_replication: true };
  const isOn = async (created: Awaited<ReturnType<typeof create>>) => {
    const uri = branchCalls(service).uri(created);
    assert.deepEqual(await query(uri, 'show wal_level'), ['logical']);
    await createSlot(uri, 'mine');
  };

  it('by the command line, which is right about its slots', async () => {
    const created = await create('line');
    const { id } = created.project;
    await run('projects', 'update', id, '--enable-logical-replication', '--yes');
    await isOn(created);
    const slots = async () => {
      const args = ['replication-slots', '--project-id', id, '--output', 'json'];
      const rows = JSON.parse(await run('inspect', 'db', ...args)) as Record<string, unknown>[];
      return rows.map(({ slot_name, slot_type, slot_kind, status }) => [
        slot_name,
        slot_type,
        slot_kind,
        status,
      ]);
    };
    const row = ['mine', 'logical', 'CDC (apply)'];
    assert.deepEqual(await slots(), [[...row, 'inactive']]);
    const client = await replicate(branchCalls(service).uri(created));
    await receive(client, 'mine');
    await eventually(async () => (await slots())[0]?.[3] === 'streaming');
    await client.end();
    await eventually(async () => (await slots())[0]?.[3] === 'inactive');
  });

  it('by the former client of the API', async () => {
    const created = await create('client');
    const client = createApiClient({ apiKey: service.key, baseURL: service.baseUrl });
    const { data } = await client.updateProject(created.project.id, { project: { settings } });
    assert.equal(data.project.settings?.enable_logical_replication, true);
    await branchCalls(service).finish(created.project.id, data.operations);
    await isOn(created);
  });

  it('by the SDK', async () => {
    const created = await create('sdk');
    const sdk = createNeonClient({ apiKey: service.key, baseUrl: service.baseUrl, throwOnError: true });
    await sdk.projects.update({ projectId: created.project.id, settings });
    await isOn(created);
  });
});
