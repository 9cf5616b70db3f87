import assert from 'node:assert/strict';
import { useWorkbench } from './useWorkbench.ts';

describe('the view container', () => {
  const opened = useWorkbench();

  it('offers the local service to whoever is not connected', async () => {
    const { workbench } = opened();
    await workbench.openView('Hosted Postgres');
    assert.match(await workbench.welcomeText('Computes'), /Try it with the local service/);
  });

  it('takes the commands from the palette', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Connect…');
    await workbench.quickInput.cancel(/./);
  });
});
