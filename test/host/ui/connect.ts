import type { LocalService } from '../../helpers/localService.ts';
import type { Workbench } from '../../workbench/workbench.ts';

/** Opens the view and connects the window to a running service, like a user with its address and key. */
export async function connect(
  workbench: Workbench,
  { baseUrl, key }: Pick<LocalService, 'baseUrl' | 'key'>,
): Promise<void> {
  const { quickInput } = workbench;
  await workbench.openView('Hosted Postgres');
  await workbench.runCommand('Hosted Postgres: Connect…');
  await quickInput.answer('Select a service', baseUrl);
  await quickInput.answer('API key for', key);
  await quickInput.closed();
}
