import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const [project, compute] = ['calm-poetry-195246', 'ep-green-hat-340975'];
const start = 'code-oss://hosted-postgres.hosted-postgres/compute';

describe('links to a compute', () => {
  const opened = useWorkbench();
  let service: LocalService;
  /** Opens a link like the operating system does, and confirms VS Code's question. */
  const openLink = async (link: string) => {
    const { workbench } = opened();
    await workbench.runCommand('Developer: Open URL');
    await workbench.quickInput.answer('URL to open', link);
    const { message } = await workbench.dialog.read();
    assert.match(message, /Allow 'Hosted Postgres' extension to open this URI/);
    await workbench.dialog.press('Open');
  };
  const selected = async () => {
    const row = opened().workbench.page.locator('.pane-body [role="treeitem"][aria-selected="true"]');
    return (await row.getAttribute('aria-label')) ?? '';
  };

  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());

  it('offer to connect if there is no connection', async () => {
    const { workbench } = opened();
    await openLink(`${start}?project=${project}&endpoint=${compute}`);
    const { buttons } = await workbench.notifications.waitFor(`This link opens ${compute}`);
    assert.deepEqual(buttons, ['Connect…']);
    await workbench.notifications.clear();
  });

  it('can be copied, and reveal their compute', async () => {
    const { workbench } = opened();
    await connect(workbench, service);
    await workbench.runCommand('Hosted Postgres: Copy Link');
    await workbench.quickInput.choose('Select a compute', compute);
    const link = `${start}?${new URLSearchParams({ project, endpoint: compute, service: service.baseUrl }).toString()}`;
    await until('the link in the clipboard', async () => (await workbench.readClipboard()) === link);
    await openLink(link);
    await until('the compute to be selected', async () => (await selected()).includes(compute));
  });

  it('can be opened from the palette', async () => {
    const { workbench } = opened();
    await workbench.runCommand('Hosted Postgres: Open Link…');
    const prompt = 'Link to a compute';
    assert.match(
      await workbench.quickInput.validationMessage(prompt, 'https://example.com'),
      /isn't a link to a compute/,
    );
    await workbench.quickInput.answer(
      /./,
      `${start}?project=shiny-wind-028834&endpoint=ep-purple-water-204912`,
    );
    await until('the compute to be selected', async () =>
      (await selected()).includes('ep-purple-water-204912'),
    );
  });

  it('never switch the account by themselves, but name the other service', async () => {
    const { workbench } = opened();
    const other = 'https://db.example.com/api/v2';
    await openLink(
      `${start}?${new URLSearchParams({ project, endpoint: compute, service: other }).toString()}`,
    );
    const { message, buttons } = await workbench.notifications.waitFor(`This link opens ${compute}`);
    assert.ok(message.includes(other), message);
    assert.deepEqual(buttons, ['Switch Account…']);
    await workbench.notifications.clear();
    assert.ok((await selected()).includes('ep-purple-water-204912'));
  });

  it('show an error if they are invalid or their compute does not exist', async () => {
    const { workbench } = opened();
    for (const [link, reason] of [
      [`${start}?project=${project}&endpoint=ep-missing-000000`, 'ep-missing-000000 no longer exists'],
      [`${start}?project=..%2Fapi_keys&endpoint=${compute}`, "This isn't a link to a compute"],
    ] as const) {
      await openLink(link);
      await workbench.notifications.waitFor(`Couldn't open the link: ${reason}`);
      await workbench.notifications.clear();
    }
  });
});
