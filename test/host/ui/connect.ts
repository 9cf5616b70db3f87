import type { LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import type { Workbench } from '../../workbench/workbench.ts';

/**
 * Opens the view and connects the window to a running service, like a user with its address and key. Waits until VS Code
 * has drawn its projects: it redraws all views 200 ms after they have changed, and a row that is redrawn loses its tooltip.
 */
export async function connect(
  workbench: Workbench,
  { baseUrl, key }: Pick<LocalService, 'baseUrl' | 'key'>,
): Promise<void> {
  const { quickInput, statusBar } = workbench;
  await workbench.openView('Hosted Postgres');
  await workbench.runCommand('Hosted Postgres: Connect…');
  await quickInput.answer('Select a service', baseUrl);
  await quickInput.answer('API key for', key);
  await statusBar.waitFor(`Connected to ${baseUrl.replace(/^https?:\/\//, '')}`);
  await until('the projects', async () => (await workbench.tree('Computes').rows()).length > 0);
}
