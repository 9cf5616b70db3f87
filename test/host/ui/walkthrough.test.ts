import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('The walkthrough', () => {
  const opened = useWorkbench();
  let service: LocalService;
  const steps = () => opened().workbench.page.locator('.getting-started-step');
  /** Titles of the steps that are ticked off. */
  const done = async () => {
    const ticked = steps().filter({ has: opened().workbench.page.locator('.codicon.complete') });
    return ticked.locator('.step-title').allInnerTexts();
  };
  const becomesDone = (...titles: string[]) =>
    until(
      async () => `${titles.join(', ')} to be done; done are ${(await done()).join(', ')}`,
      async () => (await done()).join() === titles.join(),
    );

  before(async () => {
    await opened().workbench.page.setViewportSize({ width: 1500, height: 900 });
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());

  it('shows its steps, each with a button that does it', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Welcome: Open Walkthrough...');
    await workbench.quickInput.choose(/walkthrough/i, 'Get Started with Hosted Postgres');
    await steps().first().waitFor();
    assert.deepEqual(await steps().locator('.step-title').allInnerTexts(), [
      'Connect with an API key',
      'Or try it on this machine',
      'Browse projects and computes',
      'Copy a host',
    ]);
    for (const [title, button] of [
      ['Or try it on this machine', 'Start Local Service'],
      ['Browse projects and computes', 'Show Computes'],
      ['Copy a host', 'Copy Host'],
      ['Connect with an API key', 'Connect…'],
    ] as const) {
      await steps().filter({ hasText: title }).click();
      await steps().filter({ hasText: title }).getByRole('button', { name: button }).waitFor();
    }
    assert.deepEqual(await done(), []);
  });

  it('ticks its steps off as they are done', async () => {
    const { workbench } = opened();
    await connect(workbench, service);
    await becomesDone('Connect with an API key', 'Browse projects and computes');
    const computes = workbench.tree('Computes');
    await computes.expand('Project shop');
    await computes.inlineAction(/^Compute ep-steep-forest/, 'Copy Host');
    await becomesDone('Connect with an API key', 'Browse projects and computes', 'Copy a host');
  });
});
