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
    await ui().computes.contextMenu(/^Project shop/, 'Protect Project: Production…');
    await ui().quickInput.choose('Select how to protect shop', label);
    await ui().computes.waitFor(`Project shop, ${label.toLowerCase()}`);
    // A row that is redrawn closes its menu.
    await ui().computes.waitFor(new RegExp(`^Compute primary, .*, ${label.toLowerCase()}`));
  };

  it('show production with text, badge and color', async () => {
    await mark('Production');
    await ui().computes.waitFor(new RegExp(`^Branch .*${mainBranch}.*, production`));
    await until('the badges', async () => {
      const contents = await ui().page.evaluate<string[]>(BADGES);
      return contents.filter((content) => content === '"P"').length === 4;
    });
  });

  it('forbid each change of a read-only project, until the mark is removed from the message', async () => {
    await mark('Read-only');
    const before = changes();
    for (const item of ['Delete Compute…', 'Edit Compute…', 'Start Compute']) {
      await ui().notifications.clear();
      await ui().computes.contextMenu(/^Compute primary,/, item);
      await ui().notifications.waitFor(`You have protected the project ${shop} as read-only`);
    }
    assert.equal(changes(), before);
    await ui().notifications.press('as read-only', 'Protect Project…');
    await ui().quickInput.choose('Select how to protect shop', 'No protection');
    await ui().statusBar.waitFor('Removed the protection of shop');
    await ui().computes.waitFor('Project shop');
    await ui().computes.contextMenu(/^Project shop/, 'Protect Project: Production…');
    await ui().quickInput.choose('Select how to protect shop', 'No protection');
    await ui().statusBar.waitFor('shop has no protection');
  });
});
