import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('the walkthrough', () => {
  const opened = useWorkbench();
  let service: LocalService;
  const steps = () => opened().workbench.page.locator('.getting-started-step');
  /** Returns the titles of the completed steps. */
  const completed = async () => {
    const checked = steps().filter({ has: opened().workbench.page.locator('.codicon.complete') });
    return checked.locator('.step-title').allInnerTexts();
  };
  const waitForCompleted = (...titles: string[]) =>
    until(
      async () => `${titles.join(', ')} to be completed; completed: ${(await completed()).join(', ')}`,
      async () => (await completed()).join() === titles.join(),
    );

  before(async () => {
    await opened().workbench.page.setViewportSize({ width: 1500, height: 900 });
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());

  it('shows its steps, each with a button', async () => {
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
    assert.deepEqual(await completed(), []);
  });

  it('checks each step off when it is done', async () => {
    const { workbench } = opened();
    await connect(workbench, service);
    await waitForCompleted('Connect with an API key', 'Browse projects and computes');
    const computes = workbench.tree('Computes');
    await computes.expandProject('shop');
    await computes.inlineAction(/^Compute ep-steep-forest/, 'Copy Host');
    await waitForCompleted('Connect with an API key', 'Browse projects and computes', 'Copy a host');
  });
});
