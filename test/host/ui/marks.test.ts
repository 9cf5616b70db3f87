import assert from 'node:assert/strict';
import { mainBranch, shop } from '../../helpers/shopAccount.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** The badge of each row, as the style sheet draws it. Runs in the page. */
const BADGES = `[...document.querySelectorAll('.pane-body [aria-label="Computes"] .monaco-icon-label')]
  .map((label) => getComputedStyle(label, '::after').content)`;

describe('Marks of projects and accounts', () => {
  const ui = useWorkbench();
  const service = useService();

  before(() => connect(ui(), service(), 'shop'));

  const changes = () => service().proxy.requests.filter(({ method }) => method !== 'GET').length;
  const mark = async (label: 'Production' | 'Read-only') => {
    await ui().computes.contextMenu(/^Project shop/, 'Mark Project…');
    await ui().quickInput.choose('Select how to protect shop', label);
    await ui().computes.waitFor(`Project shop, ${label.toLowerCase()}`);
    // A row that is redrawn closes its menu.
    await ui().computes.waitFor(new RegExp(`^Compute primary, .*, ${label.toLowerCase()}`));
  };

  it('show production with text, badge and color', async () => {
    await mark('Production');
    await ui().computes.waitFor(new RegExp(`^Branch ${mainBranch}.*, production`));
    await until('the badges', async () => {
      const contents = await ui().page.evaluate<string[]>(BADGES);
      return contents.filter((content) => content === '"P"').length === 4;
    });
  });

  it('ask for the name before a change in production', async () => {
    await mark('Production');
    const before = changes();
    await ui().computes.inlineAction(/^Compute primary,/, 'Restart Compute');
    const { message, title } = await ui().quickInput.waitFor('This is production. Enter “primary”');
    assert.match(title, /Restart primary\?/);
    assert.match(message, /^The compute restarts\. /);
    await ui().quickInput.cancel('This is production');
    assert.equal(changes(), before);
    await ui().computes.inlineAction(/^Compute primary,/, 'Restart Compute');
    await ui().quickInput.answer('This is production', 'primary');
    await ui().statusBar.waitFor('Restarted primary');
    assert.equal(changes(), before + 1);
  });

  it('forbid each change of a read-only project, until the mark is removed from the message', async () => {
    await mark('Read-only');
    const before = changes();
    for (const item of ['Delete Compute', 'Edit Compute…', 'Suspend Compute']) {
      await ui().notifications.clear();
      await ui().computes.contextMenu(/^Compute primary,/, item);
      await ui().notifications.waitFor(`You have marked the project ${shop} as read-only`);
    }
    assert.equal(changes(), before);
    await ui().notifications.press('as read-only', 'Mark Project…');
    await ui().quickInput.choose('Select how to protect shop', 'No mark');
    await ui().statusBar.waitFor('Removed the mark of shop');
    await ui().computes.waitFor('Project shop');
  });

  it('protect the API keys of an account', async () => {
    await ui().run('Mark Account…');
    await ui().quickInput.choose('Select how to protect', 'Read-only');
    await ui().computes.waitFor('Project analytics, read-only');
    const before = changes();
    await ui().run('Create API Key…');
    await ui().notifications.waitFor('You have marked this account as read-only');
    await ui().notifications.clear();
    assert.equal(changes(), before);
  });
});
