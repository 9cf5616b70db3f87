import assert from 'node:assert/strict';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { until } from '../../workbench/until.ts';
import { useWorkbench } from './useWorkbench.ts';

const NAMES = { 'org-calm-1': 'Calm Inc', 'org-wild-2': 'Wild Ltd' };

describe('Connecting as a member of an organization', () => {
  const opened = useWorkbench();
  const computes = () => opened().workbench.tree('Computes');
  let service: FaultProxy;
  const requested: (string | null)[] = [];
  let names: Readonly<Record<string, string>> | undefined = NAMES;

  /** As the public service does for a personal key. */
  const answer = (path: string) => {
    const url = new URL(path, 'http://any');
    if (url.pathname === '/users/me/organizations') {
      if (names === undefined) return { status: 404, json: { code: '', message: 'not found' } };
      return { json: { organizations: Object.entries(names).map(([id, name]) => ({ id, name })) } };
    }
    if (url.pathname !== '/projects') return { status: 404, json: { code: '', message: 'not found' } };
    const organization = url.searchParams.get('org_id');
    requested.push(organization);
    if (organization === null)
      return { status: 400, json: { code: '', message: 'org_id is required for this key' } };
    return { json: { projects: [{ id: `p-${organization}`, name: `of ${organization}` }] } };
  };

  before(async () => {
    service = await FaultProxy.start({ upstream: ({ path }) => answer(path) });
  });
  after(() => service.stop());

  const enterKey = async () => {
    const { quickInput } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.answer('API key for', 'a-key');
  };

  it('asks which organization, and shows its projects', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    await enterKey();
    const { items } = await workbench.quickInput.waitFor('Select the organization');
    assert.deepEqual(items, ['Calm Inc org-calm-1', 'Wild Ltd org-wild-2']);
    await workbench.quickInput.choose('Select the organization', 'Wild Ltd');
    await computes().waitFor('Project of org-wild-2');
  });

  it('keeps the organization with the account, and can change it', async () => {
    const { workbench } = opened();
    await workbench.reload();
    await computes().waitFor('Project of org-wild-2');
    await workbench.runCommand('Hosted Postgres: Choose Organization…');
    await workbench.quickInput.choose('Select the organization', 'Calm Inc');
    await computes().waitFor('Project of org-calm-1');
    await workbench.statusBar.waitFor('Showing the projects of Calm Inc');
  });

  it('keeps the organization when the key is replaced', async () => {
    const { quickInput } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Connect…');
    await quickInput.answer('Select a service', service.baseUrl);
    await quickInput.choose('Select an account', 'Default account');
    requested.length = 0;
    await quickInput.answer('API key for', 'a-new-key');
    await until('the question to end', async () => (await quickInput.read()) === undefined);
    assert.deepEqual([...new Set(requested)], ['org-calm-1']);
  });

  it('does not ask if there is only one', async () => {
    names = { 'org-only-3': 'Only' };
    await opened().workbench.runCommand('Hosted Postgres: Connect…');
    await opened().workbench.quickInput.answer('Select a service', service.baseUrl);
    await opened().workbench.quickInput.choose('Select an account', 'Add another account…');
    await opened().workbench.quickInput.answer('Name of the account', 'second');
    await opened().workbench.quickInput.answer('API key for', 'another-key');
    await computes().waitFor('Project of org-only-3');
  });

  it('takes an id if the service lists no organizations', async () => {
    names = undefined;
    await opened().workbench.runCommand('Hosted Postgres: Choose Organization…');
    await opened().workbench.quickInput.answer('Id of the organization', 'org-typed-4');
    await computes().waitFor('Project of org-typed-4');
  });
});

describe('The question for a key', () => {
  const opened = useWorkbench();

  it("opens the public service's page for keys and shows how they look", async () => {
    const { quickInput, dialog } = opened().workbench;
    await opened().workbench.runCommand('Hosted Postgres: Connect…');
    await quickInput.choose('Select a service', 'https://console.neon.tech/api/v2');
    assert.equal((await quickInput.waitFor('API key for')).placeholder, 'napi_…');
    await quickInput.pressButton('Open the page for API keys');
    const { message, detail } = await dialog.read();
    assert.match(`${message} ${detail}`, /console\.neon\.tech\/app\/settings\/api-keys/);
    await dialog.press('Cancel');
    await quickInput.cancel('API key for');
  });
});
