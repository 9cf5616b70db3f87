/** A company network, as in privateNetwork.ts. Tests the failures that users see there. */
import assert from 'node:assert/strict';
import type { StubReply } from '../../helpers/faultProxy.ts';
import { computeRecord } from '../../helpers/scriptedService.ts';
import { connect } from './connect.ts';
import {
  PRIVATE_HOST,
  setProxy,
  startPrivateNetwork,
  trustAuthority,
  type PrivateNetwork,
} from './privateNetwork.ts';
import { useWorkbench } from './useWorkbench.ts';

const answer: StubReply = ({ path: requested }) =>
  requested.includes('/endpoints')
    ? { json: { endpoints: [computeRecord('ep-good')] } }
    : { json: { projects: [{ id: 'shop', name: 'shop' }] } };

describe('a network with a proxy and a private certificate authority', () => {
  let network: PrivateNetwork;
  before(async () => {
    network = await startPrivateNetwork({ upstream: answer });
  });
  const ui = useWorkbench({ settings: { 'hostedPostgres.refreshInterval': 5 }, env: trustAuthority() });

  it('shows an error if the proxy requires a login, and sends nothing to the service', async () => {
    await setProxy(ui(), network, '');
    await ui().openView('Hosted Postgres');
    await ui().run('Connect…');
    await ui().quickInput.answer('Select a service', network.baseUrl);
    assert.match(
      await ui().quickInput.validationMessage('API key for', 'key-1234'),
      /The connection to the service failed/,
    );
    await ui().quickInput.cancel(/./);
    assert.ok(network.proxy.rejected.length > 0);
    assert.equal(network.service.count(), 0);
  });

  it('connects through the proxy with its login and the trusted authority', async () => {
    await setProxy(ui(), network);
    await connect(ui(), { baseUrl: network.baseUrl, key: 'key-1234' });
    await ui().computes.expand('Project shop');
    await ui().computes.waitFor(/^Compute primary, .*ep-good$/);
    assert.deepEqual(new Set(network.proxy.opened), new Set([`${PRIVATE_HOST}:443`]));
    assert.deepEqual([...network.service.keys], ['key-1234']);
    assert.deepEqual(network.service.strayed, []);
    assert.deepEqual(await ui().notifications.all(), []);
  });
});
