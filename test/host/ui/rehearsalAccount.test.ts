/**
 * Rehearse Migration on an account, whose service shows no statements. The calls are those of the public service, made by the local
 * service under another host. Each step leaves a picture in `dist/rehearsal-account`. Timers: rehearsal/lockSampler.ts.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import type { JsonReply } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { setProxy, startPrivateNetwork, trustAuthority, type PrivateNetwork } from './privateNetwork.ts';
import { closeEditors } from './resetWindow.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

const pictures = path.join(projectRoot, 'dist', 'rehearsal-account');
/** Milliseconds. */
const HALF_AN_HOUR = 30 * 60_000;
const FILE = '0007_drop.sql';
/** The lock is held for long enough to be in a sample. */
const MIGRATION = 'begin;\nalter table users drop column nick;\nselect pg_sleep(1.2);\ncommit;\n';

/** The public service has no such call. */
const rewrite = (reply: JsonReply, call: string): JsonReply =>
  call.endsWith('/rehearsal') ? { status: 404, json: {} } : reply;

describe('A migration is rehearsed on an account', () => {
  let service: LocalService;
  let network: PrivateNetwork;
  let api: Api;
  let uri: string;

  before(async () => {
    rmSync(pictures, { recursive: true, force: true });
    mkdirSync(pictures, { recursive: true });
    service = await startLocalService();
    network = await startPrivateNetwork({ upstream: service.baseUrl, rewrite });
    api = branchCalls(service);
    uri = await branchApi(() => service, main).uri();
    await query(uri, 'create table users (id int primary key, nick text)');
    await query(uri, "insert into users select g, 'n' from generate_series(1, 1204) g");
  });
  const ui = useWorkbench({ settings: READABLE_TERMINALS, env: trustAuthority() });
  before(async () => {
    await writeFile(path.join(ui().folder, FILE), MIGRATION);
    await setProxy(ui(), network);
    await closeEditors(ui());
    await connect(ui(), { baseUrl: network.baseUrl, key: service.key }, 'shop');
    await ui().computes.click(`Branch main, default, ${main}`);
  });

  const shoot = async (name: string) => ui().screenshot(path.join(pictures, `${name}.png`));
  const preview = () =>
    ui().page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('body');
  const copies = async () =>
    (await api.branches(PROJECT)).filter(({ name }) => name.startsWith('rehearsal-'));
  const creations = async () => {
    const { operations } = await api.send<{ operations: { action: string }[] }>(
      'GET',
      `/${PROJECT}/operations?limit=1000`,
    );
    return operations.filter(({ action }) => action === 'create_branch').length;
  };
  const passwordOf = (text: string) => new URL(text).password;
  const choose = async () => {
    await ui().openFile(FILE);
    await ui().run('Rehearse Migration…');
    await ui().quickInput.choose('Select what to rehearse', FILE);
    await ui().quickInput.choose('Select the branch to copy for the rehearsal', 'main');
  };

  it('after a question that says what it costs and when its branches expire', async () => {
    await choose();
    const { message, detail } = await ui().dialog.read();
    await shoot('1-question');
    assert.equal(message, `Rehearse ${FILE} on a copy of main (shop)?`);
    assert.match(
      detail,
      /^The rehearsal creates a branch with a compute, and a second such branch if the migration may lose data\. They cost as much as other branches\. They are deleted at the end, or expire after 30 minutes at the latest\./,
    );
    assert.match(detail, /is done for real/);
    assert.deepEqual(await copies(), []);
  });

  it('on a branch that expires and has its own password', async () => {
    const before = await creations();
    await ui().dialog.press('Rehearse');
    const copy = await until('the copy', async () => (await copies())[0]);
    assert.ok(Date.parse(copy.expires_at ?? '') <= Date.now() + HALF_AN_HOUR);
    const own = () =>
      branchApi(() => service, copy.id)
        .uri()
        .catch(() => uri);
    // The copy is deleted as soon as the rehearsal ends.
    const renewed = until('another password', async () => passwordOf(await own()) !== passwordOf(uri));
    renewed.catch(() => undefined);
    await ui().notifications.waitFor(`Rehearsing ${FILE} on a copy of main (shop)`);
    await shoot('2-progress');
    await renewed;
    // On a slow machine, the heading may say first that too few locks were read.
    await preview().getByText('Loses 1,204 values of public.users.nick.', { exact: true }).waitFor();
    assert.equal(await creations(), before + 2);
  });

  it('with a document that says how locks were read, and what that can miss', async () => {
    await preview()
      .getByText(
        /^Statements and locks were read through a second connection, because this service doesn't show them\. Those shorter than .* may be missing, and so may results and what was done in other databases\.$/,
      )
      .waitFor();
    await preview()
      .getByRole('img', { name: /^Locks within .*reads and writes of public\.users/ })
      .waitFor();
    await preview()
      .getByRole('listitem')
      .filter({ hasText: /^Blocks all reads and writes of public\.users for [\d.]+ sec\.$/ })
      .waitFor();
    await shoot('3-document');
  });

  it('and nothing is left of it', async () => {
    assert.deepEqual(await copies(), []);
    assert.deepEqual(await query(uri, 'select count(nick)::int from users'), [1204]);
  });

  it('with the same question each time, as it costs again', async () => {
    await choose();
    assert.match((await ui().dialog.read()).detail, /They cost as much as other branches/);
    await ui().dialog.press('Cancel');
    assert.deepEqual(await copies(), []);
  });
});
