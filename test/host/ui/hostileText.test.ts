/** A service that puts links, images, control and bidi characters into every text must not get any of it onto the page. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FaultProxy, type JsonReply } from '../../helpers/faultProxy.ts';
import { CONTROL, hostileReply, TARGET } from '../../helpers/hostileReplies.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { primary, shopAccount } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { useWorkbench } from './useWorkbench.ts';
import { watchPage } from './watchPage.ts';
import { walkCommand } from './walkCommand.ts';

/** Commands that can't show a text of the service, or would leave the window. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'account.connect': 'the suite connects with it',
  'account.disconnect': 'asks nothing',
  'account.remove': 'the account has no text of the service',
  'account.switch': 'the account has no text of the service',
  'view.refresh': 'shows nothing itself',
  'view.showIdsFirst': 'shows nothing itself',
  'view.showNamesFirst': 'shows nothing itself',
  'compute.openPsql': 'opens a terminal',
  'compute.insertHost': 'needs an editor; asks like Copy Host',
  'branch.unprotect': 'needs a protected branch; asks like Protect Branch',
  'log.show': 'shows the log',
  'localService.start': 'another service',
  'localService.stop': 'another service',
  'localService.setUpPostgres': 'another service',
};

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly menus: {
      readonly commandPalette: readonly { readonly command: string; readonly when: string }[];
    };
  };
}

const read = (file: string) => JSON.parse(readFileSync(path.join(projectRoot, file), 'utf8'));

/** The titles of the commands to walk. */
function titles(): string[] {
  const { contributes }: Manifest = read('package.json');
  const texts: Readonly<Record<string, string>> = read('package.nls.json');
  const hidden = contributes.menus.commandPalette
    .filter(({ when }) => when === 'false')
    .map((each) => each.command);
  return contributes.commands
    .filter(
      ({ command }) => !hidden.includes(command) && !(command.replace('hostedPostgres.', '') in LEFT_OUT),
    )
    .map(({ title }) => texts[title.replaceAll('%', '')] ?? title);
}

/** What a service without Postgres doesn't have. */
const ADDED: readonly (readonly [RegExp, unknown])[] = [
  [/^GET .*\/databases$/, { databases: [{ name: 'app', owner_name: 'owner' }] }],
  [/^GET .*\/roles$/, { roles: [{ name: 'owner' }, { name: 'reader' }] }],
  [/^GET .*\/organizations$/, { organizations: ['one', 'two'].map((name) => ({ id: `org-${name}`, name })) }],
];

function hostile(reply: JsonReply, call: string): JsonReply {
  const added = ADDED.find(([pattern]) => pattern.test(call));
  const { status, json } = added === undefined ? reply : { status: 200, json: added[1] };
  return { status, json: hostileReply(json) };
}

describe('Hostile text of the service', () => {
  const opened = useWorkbench();
  let service: LocalService;
  let proxy: FaultProxy;
  let page: Awaited<ReturnType<typeof watchPage>>;
  const harmless = async () => assert.deepEqual(await page.findings(), []);

  before(async () => {
    service = await startLocalService({ postgres: false, args: shopAccount(temporaryFolder()) });
    proxy = await FaultProxy.start({
      upstream: service.baseUrl,
      rewrite: hostile,
    });
    const { workbench } = opened();
    page = await watchPage(workbench.page, TARGET, CONTROL);
    await workbench.openView('Hosted Postgres');
    await workbench.runCommand('Hosted Postgres: Connect…');
    await workbench.quickInput.answer('Select a service', proxy.baseUrl);
    await workbench.quickInput.answer('API key for', service.key);
    await until('the projects', async () => (await workbench.tree('Computes').rows()).length > 0);
  });
  after(async () => {
    await proxy.stop();
    await service.stop();
  });

  it('is shown as text in rows and tooltips', async () => {
    const { workbench } = opened();
    const computes = workbench.tree('Computes');
    await computes.expand(/^Project .* shop/);
    // A row that is redrawn with its name loses its tooltip.
    await computes.waitFor(/^Branch br-[^,]+, \[click\]/);
    for (const row of [/^Project .* shop/, /^Branch br-/, /^Compute /])
      assert.match(await computes.tooltip(row), /click/);
    await workbench.expandView('API Keys');
    assert.match(await workbench.tree('API Keys').tooltip(/^API key/), /click/);
    await harmless();
  });

  for (const title of titles()) {
    it(`is shown as text by ${title}`, async () => {
      await walkCommand(opened().workbench, `Hosted Postgres: ${title}`);
      await harmless();
    });
  }

  it('is shown as text in completions and hovers', async () => {
    const { workbench, folder } = opened();
    const editor = new Editor(workbench.page);
    await writeFile(path.join(folder, 'app.env'), `# ${primary}\n`);
    await workbench.openFile('app.env');
    assert.match(await editor.hover(primary), /click/);
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion(/127\.0\.0\.1:\d+/);
    await harmless();
  });
});
