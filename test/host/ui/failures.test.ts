import assert from 'node:assert/strict';
import {
  computeRecord,
  operationRecord,
  scriptService,
  type ScriptedService,
} from '../../helpers/scriptedService.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('the tree after failed requests', () => {
  const ui = useWorkbench();
  const service = useService();
  /** A key for the window, which can be revoked. */
  const createKey = async () => (await service().client.createApiKey('of the window')).key;
  const revokeKey = async () => {
    const { items } = await service().client.listApiKeys();
    for (const { id, name } of items) if (name === 'of the window') await service().client.revokeApiKey(id);
  };
  const labels = () => ui().computes.labels();
  let initialLabels: string[];

  before(async () => {
    await connect(ui(), { baseUrl: service().baseUrl, key: await createKey() }, 'shop');
    initialLabels = await labels();
  });

  afterEach(() => service().proxy.clear());

  it('stays after the key was revoked, and is up to date again once a new key is entered', async () => {
    await revokeKey();
    await ui().waitForMessage(/doesn't accept the API key/);
    assert.deepEqual(await labels(), initialLabels);
    await ui().computes.inlineAction(/^Compute reports/, 'Start Compute');
    const notification = await ui().notifications.waitFor("Couldn't start the read replica reports of main");
    assert.match(notification.message, /The service doesn't accept the API key/);
    assert.deepEqual(notification.buttons, ['Enter New Key…']);
    await ui().notifications.press(notification.message, 'Enter New Key…');
    const { message, password } = await ui().quickInput.waitFor('API key for');
    assert.ok(message.includes(service().proxy.baseUrl), message);
    assert.equal(password, true);
    await ui().quickInput.answer(/./, await createKey());
    await ui().quickInput.closed();
    assert.deepEqual(await labels(), initialLabels, 'the tree stays as it was');
    await ui().notifications.clear();
    await ui().waitForMessage(/^$/);
  });

  it('is replaced by the reason while it cannot be loaded after a reload, and by the projects once it can', async () => {
    await revokeKey();
    // The request isn't repeated, unlike that to a service that is down.
    service().proxy.inject('captivePortal', { method: 'GET', times: Number.POSITIVE_INFINITY });
    await ui().reload();
    await ui().openView('Hosted Postgres');
    const shows = (text: string) =>
      until(text, async () => (await ui().welcomeText('Computes')).includes(text));
    await shows("Couldn't load your projects: got a web page instead of a response");
    service().proxy.clear();
    await ui().clickWelcome('Computes', 'Try Again');
    await shows('no longer accepts the API key of this account');
    await ui().clickWelcome('Computes', 'Enter New Key…');
    await ui().quickInput.answer('API key for', await createKey());
    await ui().computes.expandProject('shop');
    await until('the tree', async () => (await labels()).join() === initialLabels.join());
    assert.equal(await ui().viewMessage('Computes'), '');
    assert.equal(await ui().viewDescription('Computes'), service().baseUrl.replace('http://', ''));
  });
});

describe('failures in words', () => {
  const ui = useWorkbench();
  const service = useService();
  const changes = { method: 'POST', times: Number.POSITIVE_INFINITY } as const;

  before(() => connect(ui(), service(), 'shop'));
  afterEach(() => service().proxy.clear());

  for (const [fault, words] of [
    ['proxyErrorPage', /^The service isn't available at the moment\. Check the current state in the list\.$/],
    ['resetBeforeHeaders', /^The connection to the service failed\. Check the current state in the list\.$/],
    [
      'tooManyForAnHour',
      /^too many requests\. Try again after (?:\w+ \d+, \d+, )?\d+:\d\d(?::\d\d)? [AP]M\.$/,
    ],
  ] as const)
    it(`have no code, request or status (${fault})`, async () => {
      service().proxy.inject(fault, changes);
      await ui().computes.inlineAction(/^Compute reports/, 'Start Compute');
      const { message } = await ui().notifications.waitFor("Couldn't start the read replica reports of main");
      assert.match(message.replace(/^Couldn't start the read replica reports of main \(.+?\): /, ''), words);
      await ui().notifications.clear();
    });
});

describe('a failed operation', () => {
  const ui = useWorkbench();
  let service: ScriptedService;
  let status = 'running';

  before(async () => {
    const compute = computeRecord('ep-one', { name: 'reports' });
    service = await scriptService((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'shop' }] };
      if (call.endsWith('/branches')) return { branches: [{ id: 'br-main', name: 'main' }] };
      if (call.startsWith('POST'))
        return { endpoint: compute, operations: [1, 2].map((each) => operationRecord(each)) };
      const [, id] = call.match(/\/operations\/.*(\d)$/) ?? [];
      if (id === undefined) return { endpoints: [compute] };
      return { operation: operationRecord(Number(id), { status, error: 'out of compute hours' }) };
    });
    await connect(ui(), { baseUrl: service.baseUrl, key: 'key-1234' });
  });

  it("is shown with the service's message and the compute's name, and reveals the compute", async () => {
    await ui().computes.expandProject('shop');
    // VS Code replaces the rows when the names of branches arrive. An action of an old row knows no compute.
    await ui().computes.waitFor('Branch main, br-main');
    await ui().computes.inlineAction(/^Compute reports/, 'Restart Compute');
    await ui().dialog.press('Restart');
    // The service suspends and starts it, but the user has made one change.
    await ui().statusBar.waitFor('Hosted Postgres: 1 operation pending');
    status = 'failed';
    const message = 'Restarting the primary of main (shop) failed: out of compute hours';
    const { buttons } = await ui().notifications.waitFor(message);
    assert.deepEqual(buttons, ['Show Compute']);
    await ui().viewAction('Computes', 'Collapse All');
    await ui().notifications.press(message, 'Show Compute');
    await ui().computes.waitFor(/^Compute reports/);
  });
});
