import assert from 'node:assert/strict';
import pg from 'pg';
import { Client } from '../../../src/api/client.ts';
import { isRejected } from '../../../src/api/errors.ts';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { until } from '../../workbench/until.ts';
import { findOwnService, type OwnService } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, branch] = ['shiny-wind-028834', 'br-aged-salad-637688'];
const [idleCompute, idleBranch] = ['ep-purple-water-204912', 'br-sweet-breeze-497520'];

describe('the main job on the local service', () => {
  const opened = useWorkbench();
  let service: OwnService;
  let key: string;
  let client: Client;

  const replicas = async () => {
    const { items } = await client.listComputes(shop);
    return items.filter((compute) => compute.branch_id === branch && compute.type === 'read_only');
  };
  const actionsOf = async (computeId: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${service.baseUrl}/projects/${shop}/operations`, { headers });
    const { operations } = (await reply.json()) as {
      operations: { action: string; status: string; endpoint_id: string }[];
    };
    const ofCompute = operations.filter((operation) => operation.endpoint_id === computeId);
    return ofCompute.map(({ action, status }) => `${action} ${status}`);
  };
  /** Created by another client. */
  const newReplica = async (): Promise<string> => {
    const { compute } = await client.createCompute(shop, { branch_id: branch, type: 'read_only' });
    assert.ok(compute);
    await opened()
      .workbench.tree('Computes')
      .waitFor(new RegExp(`^Compute ${compute.id}, active`));
    return compute.id;
  };
  const connectTo = async (computeId: string, branchId: string): Promise<pg.Client> => {
    const { items } = await client.listComputes(shop);
    const host = items.find(({ id }) => id === computeId)?.host ?? '';
    const login = { computeId, branchId, role: 'app_owner', database: 'app', pooled: false, host };
    const connectionString = await connectionUri(client, shop, login);
    const connection = new pg.Client({ connectionString });
    connection.on('error', () => undefined);
    await connection.connect();
    return connection;
  };

  it('starts with one click in the welcome view', async () => {
    const { workbench, dataFolder } = opened();
    await workbench.openView('Hosted Postgres');
    await workbench.clickWelcome('Computes', 'Try it with the local service');
    const computes = workbench.tree('Computes');
    await computes.expandProject('shop');
    await computes.waitFor(/^Compute ep-little-smoke-851426, active, primary, 0.25 CU/);
    await computes.waitFor(`Branch ${branch}, main, default`);
    service = await findOwnService(dataFolder);
  });

  it('creates a key, shows its value once and copies it', async () => {
    const { workbench } = opened();
    await workbench.expandView('API Keys');
    const keys = workbench.tree('API Keys');
    await keys.waitFor(/^API key laptop/);
    await workbench.viewAction('API Keys', 'Create API Key…');
    await workbench.quickInput.answer('Name of the key', 'main job');
    const { detail, buttons } = await workbench.dialog.read();
    assert.deepEqual(buttons.toSorted(), ['Close', 'Copy Key']);
    await workbench.dialog.press('Copy Key');
    key = await until('the key in the clipboard', async () => {
      const copied = await workbench.readClipboard();
      return copied.length > 20 && detail.startsWith(copied) && copied;
    });
    await keys.waitFor(/^API key main job, never used/);
    client = new Client({ baseUrl: service.baseUrl, key, fetch: globalThis.fetch, retries: 0 });
    const { items } = await client.listApiKeys();
    assert.ok(items.some(({ name }) => name === 'main job'));
  });

  it('creates a read replica on a branch and shows it become active', async () => {
    const { workbench } = opened();
    const before = new Set((await replicas()).map(({ id }) => id));
    const { quickInput } = workbench;
    await workbench.tree('Computes').contextMenu(`Branch ${branch}, main, default`, 'Create Compute…');
    await quickInput.choose('Select the type', 'Read replica');
    await quickInput.choose('Select a fixed size', '0.25 CU');
    await quickInput.accept('Suspend after inactivity');
    const { text } = await workbench.statusBar.waitFor(/^Created ep-\S+/);
    const createdId = text.replace('Created ', '');
    await workbench.tree('Computes').waitFor(`Compute ${createdId}, active, read replica, 0.25 CU`);
    const added = (await replicas()).filter(({ id }) => !before.has(id));
    assert.deepEqual(
      added.map(({ id, current_state }) => [id, current_state]),
      [[createdId, 'active']],
    );
  });

  it('restarts a compute after a confirmation, which drops its connections', async () => {
    const { workbench } = opened();
    const id = await newReplica();
    const connection = await connectTo(id, branch);
    const dropped = new Promise((resolve) => connection.once('end', resolve));
    const row = new RegExp(`^Compute ${id}`);
    await workbench.tree('Computes').inlineAction(row, 'Restart Compute');
    const { message, detail } = await workbench.dialog.read();
    assert.equal(message, `Restart ${id}?`);
    assert.match(detail, /^The compute restarts\. 1 open connection is dropped\. /);
    await workbench.dialog.press('Restart');
    await workbench.statusBar.waitFor(`Restarted ${id}`);
    await dropped;
    await workbench.tree('Computes').waitFor(`Compute ${id}, active, read replica, 0.25 CU`);
    assert.deepEqual((await actionsOf(id)).slice(0, 2), [
      'start_compute finished',
      'suspend_compute finished',
    ]);
    await (await connectTo(id, branch)).end();
  });

  it('copies a connection string that works without typing anything', async () => {
    const { workbench } = opened();
    const id = await newReplica();
    await workbench.tree('Computes').contextMenu(new RegExp(`^Compute ${id}`), 'Copy Connection String…');
    const connectionString = await until('the connection string in the clipboard', async () => {
      const copied = await workbench.readClipboard();
      return copied.startsWith('postgresql://') && copied;
    });
    const connection = new pg.Client({ connectionString });
    await connection.connect();
    const { rows } = await connection.query(
      'select current_user::text as role, current_database()::text as name',
    );
    await connection.end();
    assert.deepEqual(rows, [{ role: 'app_owner', name: 'app' }]);
  });

  it('shows that a client has started an idle compute', async () => {
    const { workbench } = opened();
    const computes = workbench.tree('Computes');
    await computes.waitFor(new RegExp(`^Compute ${idleCompute}, idle`));
    const connection = await connectTo(idleCompute, idleBranch);
    try {
      await computes.waitFor(new RegExp(`^Compute ${idleCompute}, active`));
      await workbench.statusBar.waitFor(`${idleCompute} is active`);
      assert.equal((await actionsOf(idleCompute))[0], 'start_compute finished');
    } finally {
      await connection.end();
    }
  });

  it('deletes a compute after a confirmation', async () => {
    const { workbench } = opened();
    const id = await newReplica();
    const row = new RegExp(`^Compute ${id}`);
    await workbench.tree('Computes').contextMenu(row, 'Delete Compute');
    const { message, detail } = await workbench.dialog.read();
    assert.equal(message, `Delete ${id}?`);
    assert.match(detail, new RegExp(`can't be undone.*The data stays on branch ${branch}`));
    await workbench.dialog.press('Delete');
    await workbench.statusBar.waitFor(`Deleted ${id}`);
    await workbench.tree('Computes').waitUntilGone(row);
    assert(!(await replicas()).some((replica) => replica.id === id));
  });

  it('revokes the key', async () => {
    const { workbench } = opened();
    const row = /^API key main job/;
    await workbench.tree('API Keys').contextMenu(row, 'Revoke API Key…');
    const { message, detail } = await workbench.dialog.read();
    assert.equal(message, 'Revoke API key “main job”?');
    assert.match(detail, /can't be undone/);
    await workbench.dialog.press('Revoke');
    await workbench.statusBar.waitFor('Revoked API key “main job”');
    await workbench.tree('API Keys').waitUntilGone(row);
    await assert.rejects(client.listApiKeys(), (error) => isRejected(error, 401));
  });

  it('has shown no notification', async () => {
    assert.deepEqual(await opened().workbench.notifications.all(), []);
  });
});
