import assert from 'node:assert/strict';
import pg from 'pg';
import { Client } from '../../../src/api/client.ts';
import { connectionUri } from '../../helpers/connectionUri.ts';
import { findOwnService, type OwnService } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

const [shop, branch] = ['shiny-wind-028834', 'br-aged-salad-637688'];

describe('trying the local service', () => {
  const ui = useWorkbench();
  let service: OwnService;
  let client: Client;

  /** Creates a read replica as another client does. */
  const newReplica = async (): Promise<string> => {
    const { compute } = await client.createCompute(shop, { branch_id: branch, type: 'read_only' });
    assert.ok(compute);
    await ui().computes.waitFor(new RegExp(`^Compute .*, active, .*${compute.id}$`));
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
    await ui().openView('Hosted Postgres');
    await ui().clickWelcome('Computes', 'Try it with the local service');
    await ui().computes.waitForFirstProject();
    await ui().computes.expandProject('shop');
    await ui().computes.waitFor(/^Compute primary, active, 0.25 CU, on main, ep-little-smoke-851426$/);
    await ui().computes.waitFor(`Branch main, default, ${branch}`);
    service = await findOwnService(ui().dataFolder);
  });

  it('creates a key, shows its value once and copies it', async () => {
    await ui().expandView('API Keys');
    await ui().apiKeys.waitFor(/^API key laptop/);
    await ui().viewAction('API Keys', 'Create API Key…');
    await ui().quickInput.answer('Name of the key', 'staging');
    const { detail, buttons } = await ui().dialog.read();
    assert.deepEqual(buttons.toSorted(), ['Close', 'Copy Key']);
    await ui().dialog.press('Copy Key');
    const shown = detail.split('\n').at(-1) ?? '';
    const key = await ui().waitForClipboard(shown);
    await ui().apiKeys.waitFor(/^API key staging, never used/);
    client = new Client({ baseUrl: service.baseUrl, key, fetch: globalThis.fetch, retries: 0 });
    const { items } = await client.listApiKeys();
    assert.ok(items.some(({ name }) => name === 'staging'));
  });

  it('restarts a compute after a confirmation, which drops its connections', async () => {
    const id = await newReplica();
    const connection = await connectTo(id, branch);
    const dropped = new Promise((resolve) => connection.once('end', resolve));
    const row = new RegExp(`^Compute .*${id}$`);
    await ui().computes.inlineAction(row, 'Restart Compute');
    const { message, detail } = await ui().dialog.read();
    assert.equal(message, `Restart the read replica ${id} of main (shop)?`);
    assert.match(detail, /^The compute restarts\. 1 open connection is dropped\. /);
    await ui().dialog.press('Restart');
    await ui().statusBar.waitFor(`Restarted the read replica ${id} of main (shop)`);
    await dropped;
    await ui().computes.waitFor(`Compute read replica, active, 0.25 CU, on main, ${id}`);
    await (await connectTo(id, branch)).end();
  });

  it('copies a connection string that works without typing anything', async () => {
    const id = await newReplica();
    await ui().computes.contextMenu(new RegExp(`^Compute .*${id}$`), 'Copy Connection String…');
    const connectionString = await ui().waitForClipboard(/^postgresql:/);
    const connection = new pg.Client({ connectionString });
    await connection.connect();
    const { rows } = await connection.query(
      'select current_user::text as role, current_database()::text as name',
    );
    await connection.end();
    assert.deepEqual(rows, [{ role: 'app_owner', name: 'app' }]);
  });

  it('has shown no notification', async () => {
    assert.deepEqual(await ui().notifications.all(), []);
  });
});
