import assert from 'node:assert/strict';
import { reports, shop } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('The history of operations', () => {
  const ui = useWorkbench();
  const service = useService();

  before(() => connect(ui(), service(), 'shop'));
  after(() => ui().runCommand('View: Close All Editors'));

  const states = async () => (await service().client.listComputes(shop)).items;
  const settled = () =>
    until('no change in progress', async () =>
      (await states()).every(({ pending_state: pending }) => (pending ?? '') === ''),
    );
  /** The text in the preview, which is in two frames. */
  const preview = () =>
    ui().page.frameLocator('iframe.webview.ready').frameLocator('iframe[title]').locator('body');

  it('is a document with the last day as a picture that is read aloud, and is read again by a button', async () => {
    await service().client.restartCompute(shop, reports);
    await settled();
    await ui().computes.contextMenu(/^Compute reports,/, 'More', 'Show Operations');
    await preview()
      .getByRole('heading', { name: 'Operations of the read replica reports of main (shop)' })
      .waitFor();
    const tab = ui().page.locator('.tabs-container .tab.active');
    assert.match((await tab.getAttribute('aria-label')) ?? '', /main reports\.operations\.md/);
    const picture = preview().getByRole('img', { name: /^reports in the last day: Active for \d+ / });
    await picture.waitFor();
    assert.ok((await picture.locator('rect').count()) > 0);
    const started = preview().getByRole('cell', { name: 'Start compute' });
    const before = await started.count();
    await service().client.restartCompute(shop, reports);
    await settled();
    await ui().page.getByRole('button', { name: 'Refresh Operations' }).click();
    await until('another start', async () => (await started.count()) === before + 1);
  });

  it('says in a tooltip why the compute is active', async () => {
    assert.match(await ui().computes.tooltip(/^Compute reports,/), /Activity\s+(Read replica\. )?Active/);
  });
});
