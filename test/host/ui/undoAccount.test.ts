/**
 * Undo… on a service that isn't of this machine: it asks first, and doesn't say what has changed. The calls are those of the public
 * service, made by the local service under another host. Each step leaves a picture in `dist/undo-account`.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { FaultProxy, type JsonReply } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import {
  PRIVATE_HOST,
  setProxy,
  startPrivateNetwork,
  trustAuthority,
  type PrivateNetwork,
} from './privateNetwork.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

const pictures = path.join(projectRoot, 'dist', 'undo-account');
const QUESTION = 'Select the moment that main (shop) goes back to';
const RESTORE = { method: 'POST', path: /\/restore$/ };

/** Hosts as the public service has them. */
const withHosts = (text: string) =>
  text.replaceAll(/127\.0\.0\.1:(\d+)/g, (_, port) => `ep-calm-sea-${port}.${PRIVATE_HOST}`);
const rewrite = ({ status, json }: JsonReply): JsonReply => ({
  status,
  json: JSON.parse(withHosts(JSON.stringify(json)).replaceAll('"local"', '"aws-eu-central-1"')),
});

describe('Undo… on an account', () => {
  let service: LocalService;
  let network: PrivateNetwork;
  let api: Api;
  /** The connection string, which stays the same. */
  let uri: string;

  before(async () => {
    rmSync(pictures, { recursive: true, force: true });
    mkdirSync(pictures, { recursive: true });
    // Long enough for the progress to be seen.
    service = await startLocalService({ args: ['--operation-delay', '500'] });
    network = await startPrivateNetwork({ upstream: service.baseUrl, rewrite });
    api = branchCalls(service);
    uri = await branchApi(() => service).uri();
  });
  const ui = useWorkbench({ settings: READABLE_TERMINALS, env: trustAuthority() });
  before(async () => {
    writeProject(ui().folder, uri);
    await setProxy(ui(), network);
    await ui().runCommand('View: Close All Editors');
    await connect(ui(), { baseUrl: network.baseUrl, key: service.key }, 'shop');
    await ui().statusBar.waitFor('Database branch main');
    await branchApi(() => service).waitForHistory();
  });
  afterEach(async () => {
    network.service.clear();
    await ui().notifications.clear();
  });

  let shots = 0;
  const shoot = async (name: string) => {
    shots += 1;
    await ui().screenshot(path.join(pictures, `${String(shots).padStart(2, '0')}-${name}.png`));
  };
  const columns = () =>
    query(
      uri,
      "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = 'customers'::regclass and attnum > 0 and not attisdropped",
    ).catch(() => []);
  const waitForColumns = (expected: string) =>
    until(`the columns ${expected}`, async () => (await columns())[0] === expected);
  const names = async () => (await api.branches(PROJECT)).map(({ name }) => name);
  const firstMoment = (start: string) =>
    until(start, async () => (await ui().quickInput.waitFor(QUESTION)).items[0]?.startsWith(start));
  /** Asks for the first moment of the list, with the keyboard. */
  const undoFirst = async (start: string) => {
    await ui().run('Undo…');
    await firstMoment(start);
    await ui().quickInput.accept(QUESTION);
  };

  it('names the moment, asks, and brings a dropped column back under the same connection string', async () => {
    const [emails] = await query(uri, 'select count(email)::int from customers');
    await ui().run('Mark This Moment…');
    await ui().quickInput.answer('Name of this moment of main (shop)', 'before the migration');
    await query(uri, 'alter table customers drop column email');
    await waitForColumns('id name city created_at');
    await ui().run('Undo…');
    await firstMoment('“before the migration”');
    await shoot('moments');
    await ui().quickInput.accept(QUESTION);
    const { message, detail } = await ui().dialog.read();
    await shoot('question');
    assert.match(message, /^Undo main \(shop\)\? You selected: “before the migration” \(.*\)\.$/);
    assert.match(
      detail,
      /^Its current data is kept as the branch before-undo-\d\d-\d\d, at least until [\d/]+\. /,
    );
    await ui().page.keyboard.press('Enter');
    await ui().notifications.waitFor('Undoing main (shop)');
    await shoot('progress');
    await ui().notifications.waitFor(
      /^Undid main \(shop\)\. You selected: “before the migration” \(.*\)\. Its previous data is kept as before-/,
    );
    await shoot('undone');
    await waitForColumns('id name email city created_at');
    assert.deepEqual(await query(uri, 'select count(email)::int from customers'), [emails]);
  });

  it('offers first to undo the undo', async () => {
    await ui().run('Undo…');
    await firstMoment('Undo the undo of ');
    await shoot('undo-the-undo');
    // The branch was created, so the list is complete. On a slow machine, it has also existed for a minute.
    const { items } = await ui().quickInput.waitFor(QUESTION);
    const others = items.filter((item) => !/^\d+ minutes? ago/.test(item));
    assert.deepEqual(
      others.map((item) => item.split(' ').slice(0, 2).join(' ')),
      ['Undo the', '“before the', 'Enter a'],
    );
    await ui().quickInput.accept(QUESTION);
    await ui().dialog.press('Undo');
    await waitForColumns('id name city created_at');
    await ui().notifications.waitFor(/^Undid main \(shop\)\. You selected: Undo the undo of/);
    await shoot('undone-again');
    assert.equal((await names()).filter((name) => name.startsWith('before-undo-')).length, 2);
  });

  it('says that a service has no such call, and changes nothing', async () => {
    const before = await names();
    network.service.inject('notFound', RESTORE);
    await undoFirst('Undo the undo of ');
    await ui().dialog.press('Undo');
    await ui().notifications.waitFor(
      /^Couldn't undo main \(shop\): This service can't restore branches to an earlier time/,
    );
    await shoot('not-offered');
    assert.deepEqual([await names(), await columns()], [before, ['id name city created_at']]);
  });

  it('has the name of a protected branch entered', async () => {
    const address = `/${PROJECT}/branches/${BRANCH}`;
    await api.change('PATCH', address, { branch: { protected: true } });
    await ui().run('Refresh');
    await undoFirst('Undo the undo of ');
    await ui().quickInput.waitFor('This is production');
    await shoot('protected');
    await ui().quickInput.answer('This is production', 'main');
    await ui().notifications.waitFor(/^Undid main \(shop\)\. You selected: Undo the undo of/);
    await shoot('undone-protected');
    await waitForColumns('id name email city created_at');
    await api.change('PATCH', address, { branch: { protected: false } });
  });

  it('offers only to undo the last undo in a project without history', async () => {
    await api.change('PATCH', `/${PROJECT}`, { project: { history_retention_seconds: 0 } });
    await ui().run('Refresh');
    await ui().run('Undo…');
    await ui().quickInput.waitFor("main (shop) can't go back in time");
    await shoot('no-history');
    await ui().quickInput.cancel(/./);
    const child = 'Branch checkout-rewrite, br-sweet-breeze-497520';
    await ui().computes.contextMenu(child, 'Undo…');
    await ui().notifications.waitFor("checkout-rewrite (shop) can't go back in time");
    await shoot('nothing-offered');
    await api.change('PATCH', `/${PROJECT}`, { project: { history_retention_seconds: 86_400 } });
  });

  it('says that a branch has a parent', async () => {
    await ui().run('Refresh');
    await ui().computes.contextMenu('Branch checkout-rewrite, br-sweet-breeze-497520', 'Undo…');
    await ui().notifications.waitFor('checkout-rewrite (shop) has a parent');
    await shoot('has-a-parent');
  });

  it('is not offered by a service without branches', async () => {
    const other = await FaultProxy.start({ upstream: service.baseUrl, onlySpecified: true });
    // Without a project to expand: its branches never get names here.
    await connect(ui(), { baseUrl: other.baseUrl, key: service.key });
    await until('the commands of branches to go', async () => !(await ui().isOffered('Undo…')));
    await ui().run('Refresh');
    await shoot('no-branches');
  });
});

/** A folder with the branch in `.env`. */
function writeProject(folder: string, uri: string): void {
  writeFileSync(path.join(folder, '.env'), `DATABASE_URL=${withHosts(uri)}\n`);
}
