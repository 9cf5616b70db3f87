import assert from 'node:assert/strict';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

describe('the walkthrough', () => {
  const ui = useWorkbench();
  const service = useService();
  const steps = () => ui().page.locator('.getting-started-step');
  /** Returns the titles of the completed steps. */
  const completed = async () => {
    const checked = steps().filter({ has: ui().page.locator('.codicon.complete') });
    return checked.locator('.step-title').allInnerTexts();
  };
  const waitForCompleted = (...titles: string[]) =>
    until(
      async () => `${titles.join(', ')} to be completed; completed: ${(await completed()).join(', ')}`,
      async () => (await completed()).join() === titles.join(),
    );

  before(async () => {
    await ui().page.setViewportSize({ width: 1500, height: 900 });
  });

  it('shows its steps, each with a button', async () => {
    await ui().runCommand('Welcome: Open Walkthrough...');
    await ui().quickInput.choose(/walkthrough/i, 'Get Started with Hosted Postgres');
    await steps().first().waitFor();
    assert.deepEqual(await steps().locator('.step-title').allInnerTexts(), [
      'Connect with an API key',
      'Or try it on this machine',
      'Browse projects and computes',
      'Give each git branch and agent its own database',
      'Copy a host',
    ]);
    for (const [title, button] of [
      ['Or try it on this machine', 'Start Local Service'],
      ['Browse projects and computes', 'Show Computes'],
      ['Give each git branch and agent its own database', 'Agents…'],
      ['Copy a host', 'Copy Host'],
      ['Connect with an API key', 'Connect…'],
    ] as const) {
      await steps().filter({ hasText: title }).click();
      await steps().filter({ hasText: title }).getByRole('button', { name: button }).waitFor();
    }
    assert.deepEqual(await completed(), []);
  });

  it('checks each step off when it is done', async () => {
    await connect(ui(), service());
    await waitForCompleted('Connect with an API key', 'Browse projects and computes');
    await ui().computes.expandProject('shop');
    await ui().computes.inlineAction(/^Compute reports/, 'Copy Host');
    await waitForCompleted('Connect with an API key', 'Browse projects and computes', 'Copy a host');
  });
});
