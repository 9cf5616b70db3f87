import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService, type ProxiedService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('Accounts', () => {
  const ui = useWorkbench();
  const sample = useService({ args: [] });
  const shop = useService();

  const label = ({ baseUrl }: ProxiedService) => baseUrl.replace('http://', '');

  it('can be added, each with its own projects, switched without entering the key again, and removed', async () => {
    await connect(ui(), sample());
    await ui().computes.waitFor('Project playground');
    await connect(ui(), shop());
    await ui().computes.waitUntilGone('Project playground');
    await ui().computes.waitFor('Project shop');
    await ui().run('Switch Account…');
    await ui().quickInput.choose('Select an account', label(sample()));
    await ui().computes.waitFor('Project playground');
    assert.equal(await ui().viewDescription('Computes'), label(sample()));
    await ui().run('Remove Account…');
    await ui().quickInput.choose('Select an account to remove', label(shop()));
    const { message, detail } = await ui().dialog.read();
    assert.equal(message, `Remove the account ${label(shop())}?`);
    assert.match(detail, /API key is removed from this machine but stays valid/);
    await ui().dialog.press('Remove');
    await ui().statusBar.waitFor(`Removed ${label(shop())}`);
    await ui().run('Switch Account…');
    const another = 'Connect to another account…';
    const items = await ui().quickInput.waitForItems('Select an account', 2);
    assert.deepEqual(items, [`${label(sample())} connected`, another]);
    await ui().quickInput.cancel('Select an account');
  });
});

describe('Connecting as a member of an organization', () => {
  const ui = useWorkbench();
  let service: FaultProxy;
  const requested: (string | null)[] = [];
  let isLimited = false;
  let names: Readonly<Record<string, string>> | undefined;

  /** As the public service does for a personal key. */
  const answer = (path: string) => {
    const url = new URL(path, 'http://any');
    const notFound = { status: 404, json: { code: '', message: 'not found' } };
    if (url.pathname === '/users/me/organizations') {
      if (names === undefined) return notFound;
      return { json: { organizations: Object.entries(names).map(([id, name]) => ({ id, name })) } };
    }
    if (url.pathname === '/projects/p-mine') return { json: { project: { id: 'p-mine', name: 'mine' } } };
    // As the public service does for a key of one project.
    if (isLimited) return { status: 404, json: { code: '', message: 'outside the project of this key' } };
    if (url.pathname !== '/projects') return notFound;
    const organization = url.searchParams.get('org_id');
    requested.push(organization);
    if (organization === null)
      return { status: 400, json: { code: '', message: 'org_id is required for this key' } };
    if (organization.includes('empty')) return { json: { projects: [] } };
    return { json: { projects: [{ id: `p-${organization}`, name: `of ${organization}` }] } };
  };

  before(async () => {
    service = await FaultProxy.start({ upstream: ({ path }) => answer(path) });
  });

  it('asks which organization, keeps it with a new key, and can change it', async () => {
    names = { 'org-calm-1': 'Calm Inc', 'org-wild-2': 'Wild Ltd' };
    const { quickInput } = ui();
    await ui().openView('Hosted Postgres');
    await ui().run('Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.answer('API key for', 'a-key');
    const { items } = await quickInput.waitFor('Select the organization');
    assert.deepEqual(items, ['Calm Inc org-calm-1', 'Wild Ltd org-wild-2']);
    await quickInput.choose('Select the organization', 'Wild Ltd');
    await ui().computes.waitFor('Project of org-wild-2');
    const connected = `Connected to ${service.baseUrl.replace('http://', '')}`;
    await ui().statusBar.waitFor(connected);
    await ui().run('Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.choose('Select an account', 'Default account');
    requested.length = 0;
    await quickInput.answer('API key for', 'a-new-key');
    // A command that starts earlier uses the connection with the old key and ends with it.
    await ui().statusBar.waitFor(connected);
    assert.deepEqual([...new Set(requested)], ['org-wild-2']);
    await ui().run('Choose Organization…');
    await quickInput.choose('Select the organization', 'Calm Inc');
    await ui().computes.waitFor('Project of org-calm-1');
    await ui().statusBar.waitFor('Showing the projects of Calm Inc');
  });

  it('does not ask if there is only one, and takes an id if the service lists none', async () => {
    names = { 'org-only-3': 'Only' };
    const { quickInput } = ui();
    await ui().run('Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.choose('Select an account', 'Add another account…');
    await quickInput.answer('Name of the account', 'second');
    await quickInput.answer('API key for', 'another-key');
    await ui().computes.waitFor('Project of org-only-3');
    names = undefined;
    await ui().run('Choose Organization…');
    await quickInput.answer('Id of the organization', 'org-typed-4');
    await ui().computes.waitFor('Project of org-typed-4');
  });

  it("opens the public service's page for keys and shows how they look", async () => {
    await ui().run('Connect…');
    const [first] = await ui().quickInput.waitForItems('Select a service', 3);
    assert.equal(first, 'Neon https://console.neon.tech/api/v2');
    await ui().quickInput.choose('Select a service', 'Neon');
    assert.equal((await ui().quickInput.waitFor('API key for')).placeholder, 'napi_…');
    await ui().quickInput.pressButton('Open the page for API keys');
    const { message, detail } = await ui().dialog.read();
    assert.match(`${message} ${detail}`, /console\.neon\.tech\/app\/settings\/api-keys/);
    await ui().dialog.press('Cancel');
    await ui().quickInput.cancel('API key for');
  });

  it('takes a key of the public service in the box for the address, for that service and without showing it', async () => {
    const key = 'napi_0123456789abcdef';
    const before = requested.length;
    await ui().run('Connect…');
    await ui().quickInput.waitFor('Select a service');
    await ui().page.keyboard.insertText(key);
    const { message, password } = await ui().quickInput.waitFor('API key for');
    assert.match(message, /^API key for Neon \(https:\/\/console\.neon\.tech\/api\/v2\)/);
    assert.equal(password, true);
    assert.ok(!(await ui().page.locator('body').innerText()).includes(key));
    assert.equal(await ui().page.locator('.quick-input-box input').inputValue(), key);
    await ui().quickInput.pressButton('Back');
    const { value } = await ui().quickInput.waitFor('Select a service');
    assert.equal(value, '');
    await ui().quickInput.cancel('Select a service');
    assert.equal(requested.length, before, 'nothing was sent to the service of the window');
  });

  it('completes the path of the API', async () => {
    await ui().run('Connect…');
    await ui().quickInput.type('Select a service', service.baseUrl.replace('/api/v2', ''));
    await until('the completed address', async () => {
      const { items } = await ui().quickInput.waitFor('Select a service');
      return items.length === 1 && items[0]?.startsWith(service.baseUrl);
    });
    await ui().page.keyboard.press('Enter');
    await ui().quickInput.waitFor('Select an account');
    await ui().quickInput.cancel('Select an account');
  });

  it('asks for the project of a key that cannot list projects', async () => {
    isLimited = true;
    await ui().run('Connect…');
    await ui().quickInput.answer('Select a service', service.baseUrl);
    await ui().quickInput.choose('Select an account', 'Add another account…');
    await ui().quickInput.answer('Name of the account', 'limited');
    await ui().quickInput.answer('API key for', 'a-project-key');
    const wrong = await ui().quickInput.validationMessage("This key can't list projects", 'p-other');
    assert.match(wrong, /^outside the project/);
    await ui().quickInput.answer(/./, 'p-mine');
    await ui().computes.waitFor('Project mine');
    isLimited = false;
    await ui().run('Remove Account…');
    const address = service.baseUrl.replace('http://', '');
    await ui().quickInput.choose('Select an account to remove', `limited (${address})`);
    await ui().dialog.press('Remove');
    await ui().run('Switch Account…');
    await ui().quickInput.choose('Select an account', `second (${address})`);
    await ui().computes.waitFor('Project of org-typed-4');
    // The palette lists what is offered when it opens.
    await until('the account of an organization', async () => ui().isOffered('Choose Organization…'));
  });

  it('names an organization without projects and offers another one', async () => {
    names = { 'org-empty-5': 'Empty Inc', 'org-calm-1': 'Calm Inc' };
    await ui().run('Choose Organization…');
    await ui().quickInput.choose('Select the organization', 'Empty Inc');
    await until('the welcome text', async () =>
      (await ui().welcomeText('Computes')).includes('This organization has no projects.'),
    );
    assert.match(await ui().viewDescription('Computes'), / · Empty Inc$/);
    await ui().clickWelcome('Computes', 'Choose Organization…');
    await ui().quickInput.choose('Select the organization', 'Calm Inc');
    await ui().computes.waitFor('Project of org-calm-1');
  });
});
