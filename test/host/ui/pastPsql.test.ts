/** “psql at a Time…” that can't connect: its terminal stays with the reason of Postgres, and its branch goes with the terminal. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../../src/base/programs/findProgram.ts';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { FaultProxy, type JsonReply } from '../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { READABLE_TERMINALS } from './sharedWindows.ts';
import { useWorkbench } from './useWorkbench.ts';

/** The service doesn't know the passwords, so psql asks for them. */
const withoutPasswords = (reply: JsonReply, call: string): JsonReply =>
  call.endsWith('/connection_uri') ? { status: 404, json: { code: '', message: 'not found' } } : reply;

describe('psql at a time that cannot connect', () => {
  const ui = useWorkbench({ settings: READABLE_TERMINALS });
  let service: LocalService;
  let proxy: FaultProxy;

  before(async function () {
    if (findProgram('psql') === undefined) return this.skip();
    service = await startLocalService();
    proxy = await FaultProxy.start({ upstream: service.baseUrl, rewrite: withoutPasswords });
    await branchApi(() => service).waitForHistory();
    await connect(ui(), { baseUrl: proxy.baseUrl, key: service.key }, 'shop');
  });
  after(async () => {
    proxy?.stop();
    await service?.stop();
  });

  const temporary = async () =>
    (await branchCalls(service).branches(PROJECT)).find(({ name }) => name.startsWith('look-'));
  const open = async () => {
    const past = new Date().toISOString();
    await ui().computes.contextMenu(/^Branch main, default/, 'Data and History', 'psql at a Time…');
    await ui().quickInput.answer('Select a moment of main (shop), or type a time', past);
    await ui().terminal.waitFor(/Password for user app_owner:/);
    return (await temporary())?.id ?? assert.fail('there is no temporary branch');
  };
  /** Waits for it and the last line. A terminal may break a line at any place. */
  const waitForReason = (text: string) =>
    ui().terminal.waitFor(new RegExp(`${text.split('').join('\\n?')}[^]*Press any key`));
  const enterPassword = () => ui().terminal.type('wrong\n');
  const closeByKey = async () => {
    assert.ok(await temporary());
    await ui().page.keyboard.press('q');
    await ui().terminal.closed();
    await until('the temporary branch to go', async () => (await temporary()) === undefined);
    assert.deepEqual(await ui().notifications.all(), []);
  };

  it('because of a wrong password keeps its terminal with the reason', async () => {
    await open();
    await enterPassword();
    await waitForReason('password authentication failed for user "app_owner"');
    await closeByKey();
  });

  it('because its compute does not start keeps its terminal with the reason', async () => {
    const id = await open();
    await branchApi(() => service, id).suspend();
    const file = path.join(service.dataDir, 'postgres/branches', id, 'data/global/pg_control');
    await rename(file, `${file}.moved`);
    await enterPassword();
    await waitForReason('pg_control": No such file');
    await closeByKey();
  });
});
