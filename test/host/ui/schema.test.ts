import assert from 'node:assert/strict';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main, PROJECT } from '../../real/service/postgres/catalog/branchApi.ts';
import { query } from '../../real/service/postgres/clients.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('The schema of a branch', () => {
  const ui = useWorkbench();
  const shown = async () => ui().page.locator('.tabs-container .tab.active').getAttribute('aria-label');
  const waitForTitle = async (title: string) =>
    until(
      async () => `the tab ${title}; it is ${await shown()}`,
      async () => (await shown())?.startsWith(title),
    );
  let service: LocalService;
  let feature: string;
  const execute = async (branch: string, sql: string) =>
    query(await branchApi(() => service, branch).uri(), sql);

  before(async () => {
    service = await startLocalService();
    await execute(main, 'create table accounts (id int primary key)');
    const api = branchCalls(service);
    const branch = { name: 'feature', parent_id: main };
    const endpoints = [{ type: 'read_write' }];
    feature = (await api.change('POST', `/${PROJECT}/branches`, { branch, endpoints })).branch.id;
    await execute(feature, 'alter table accounts add phone text');
    await connect(ui(), service, 'shop');
    await ui().computes.waitFor(`Branch feature, ${feature}`);
  });
  after(() => service.stop());

  it('is compared with the parent in a diff editor, which counts what differs', async () => {
    await ui().computes.contextMenu(`Branch feature, ${feature}`, 'Compare Schema…');
    const question = 'Select the branch to compare with';
    await until('the branches', async () => (await ui().quickInput.waitFor(question)).items.length > 1);
    await ui().quickInput.accept(question);
    await waitForTitle('app: main ↔ feature (1 changed)');
    await ui().statusBar.waitFor('feature compared with main: 1 changed');
    const added = ui().page.locator('.editor.modified .view-line').filter({ hasText: 'phone text' });
    await added.first().waitFor();
    await execute(feature, 'create table addresses (id int)');
    await ui().page.getByRole('button', { name: 'Refresh Schema' }).click();
    await waitForTitle('app: main ↔ feature (1 added, 1 changed)');
    await ui().page.locator('.editor.modified .view-line').filter({ hasText: 'addresses' }).first().waitFor();
    assert.equal(await ui().page.locator('.tabs-container .tab').count(), 1);
  });

  it('of the sample differs between its branches, and is shown without owners and settings', async () => {
    await ui().computes.contextMenu(/^Branch checkout-rewrite.*br-sweet-breeze-497520/, 'Compare Schema…');
    const question = 'Select the branch to compare with';
    await until('the branches', async () => (await ui().quickInput.waitFor(question)).items.length > 1);
    await ui().quickInput.accept(question);
    await waitForTitle('app: main ↔ checkout-rewrite (');
    assert.match((await shown()) ?? '', /\d added, \d removed, 1 changed/);
    const lines = ui().page.locator('.editor.modified .view-line');
    await lines.filter({ hasText: 'CREATE TABLE public.customers' }).first().waitFor();
    assert.equal(await lines.filter({ hasText: /^(SET|ALTER).*(;| OWNER TO )/ }).count(), 0);
  });

  it('opens as a read-only SQL document', async () => {
    await ui().computes.contextMenu(`Branch main, default, ${main}`, 'Data and History', 'Open Schema');
    await waitForTitle('main.app.sql');
    await ui()
      .page.locator('.view-line')
      .filter({ hasText: 'CREATE TABLE public.accounts' })
      .first()
      .waitFor();
    await ui().page.locator('.statusbar-item').filter({ hasText: /SQL$/ }).waitFor();
    await execute(main, 'drop table accounts');
    await ui().page.getByRole('button', { name: 'Refresh Schema' }).click();
    await ui()
      .page.locator('.view-line')
      .filter({ hasText: 'CREATE TABLE public.accounts' })
      .first()
      .waitFor({ state: 'detached' });
  });

  it('of a deleted branch says so when it is refreshed', async () => {
    const api = branchCalls(service);
    const branch = { name: 'old', parent_id: main };
    const { id } = (await api.change('POST', `/${PROJECT}/branches`, { branch })).branch;
    await ui().viewAction('Computes', 'Refresh');
    const tabs = ui().page.locator('.tabs-container .tab');
    const before = await tabs.count();
    await ui().computes.contextMenu(`Branch old, no computes, ${id}`, 'Data and History', 'Open Schema');
    await until('the schema', async () => (await tabs.count()) > before);
    await api.change('DELETE', `/${PROJECT}/branches/${id}`);
    await ui().page.getByRole('button', { name: 'Refresh Schema' }).click();
    await ui().notifications.waitFor(new RegExp(`${id} no longer exists`));
  });
});
