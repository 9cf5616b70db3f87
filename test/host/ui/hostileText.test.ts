/** A service that puts links, images, control and bidi characters into every text must not get any of it onto the page. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonReply } from '../../helpers/faultProxy.ts';
import { createRepository } from '../../helpers/gitRepository.ts';
import { CONTROL, hostileReply, TARGET } from '../../helpers/hostileReplies.ts';
import { primary } from '../../helpers/shopAccount.ts';
import { Editor } from '../../workbench/editor.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';
import { watchPage } from './watchPage.ts';
import { walkCommand } from './walkCommand.ts';

/** Commands that can't show a text of the service, or would leave the window. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'account.connect': 'the suite connects with it',
  'account.disconnect': 'asks nothing',
  'details.showJson': 'needs an open page of details',
  'view.openConsole': 'only for the public service; opens a browser',
  'account.remove': 'the account has no text of the service',
  'account.switch': 'the account has no text of the service',
  'schema.refresh': 'needs an open schema; shows the same title',
  'rows.refresh': 'needs open rows; shows nothing itself',
  'view.refresh': 'shows nothing itself',
  'view.showIdsFirst': 'shows nothing itself',
  'view.showNamesFirst': 'shows nothing itself',
  'compute.openPsql': 'opens a terminal',
  'history.openPsql': 'opens a terminal; asks like Create Branch from a Time',
  'sql.run': 'opens a terminal; asks like Peek Rows',
  'migration.rehearse': 'needs a file or a command; asks like Peek Rows',
  // No state of the hostile service is known, so no compute can be started or suspended.
  'compute.start': 'lists no compute; asks like Restart Compute',
  'compute.suspend': 'lists no compute; asks like Restart Compute',
  'operations.refresh': 'needs an open history; shows nothing itself',
  'operations.show': 'lists something only during operations',
  'compute.insertHost': 'needs an editor; asks like Copy Host',
  'branch.unprotect': 'needs a protected branch; asks like Protect Branch',
  'log.show': 'shows the log',
  'workBranch.show': 'its first item opens a terminal; another test is about its menu',
  'workBranch.stopFollowing': 'asks nothing',
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
  [/^GET .*\/schema$/, { sql: '--\n-- Name: a; Type: TABLE\n--\n\nCREATE TABLE a ();\n' }],
  [/^GET .*\/roles$/, { roles: [{ name: 'owner' }, { name: 'reader' }] }],
  [
    /^GET .*\/organizations$/,
    { organizations: ['calm', 'wild'].map((name) => ({ id: `org-${name}`, name })) },
  ],
];

function hostile(reply: JsonReply, call: string): JsonReply {
  const added = ADDED.find(([pattern]) => pattern.test(call));
  const { status, json } = added === undefined ? reply : { status: 200, json: added[1] };
  return { status, json: hostileReply(json) };
}

describe('Hostile text of the service', () => {
  const ui = useWorkbench();
  const service = useService({ proxy: { rewrite: hostile } });
  let page: Awaited<ReturnType<typeof watchPage>>;
  const harmless = async () => assert.deepEqual(await page.findings(), []);

  before(async () => {
    // For commands that need a Git branch.
    createRepository(ui().folder);
    page = await watchPage(ui().page, TARGET, CONTROL);
    await ui().openView('Hosted Postgres');
    await ui().run('Connect…');
    await ui().quickInput.answer('Select a service', service().baseUrl);
    await ui().quickInput.answer('API key for', service().key);
    await ui().computes.waitForFirstProject();
  });
  it('is shown as text in rows and tooltips', async () => {
    await ui().computes.expand(/^Project .* shop/);
    // A row that is redrawn with its name loses its tooltip.
    await ui().computes.waitFor(/^Branch \[click\]/);
    for (const row of [/^Project .* shop/, /^Branch /, /^Compute /])
      assert.match(await ui().computes.tooltip(row), /click/);
    await ui().expandView('API Keys');
    assert.match(await ui().apiKeys.tooltip(/^API key/), /click/);
    await harmless();
  });

  for (const title of titles()) {
    it(`is shown as text by ${title}`, async () => {
      await walkCommand(ui(), title);
      await harmless();
    });
  }

  it('is shown as text in the menu of the database branch', async () => {
    await ui().run('Show Database Branch…');
    await ui().quickInput.waitFor(/points to \[click\]/);
    await harmless();
    await ui().quickInput.cancel('points to');
  });

  it('is shown as text in completions and hovers', async () => {
    const editor = new Editor(ui().page);
    await writeFile(path.join(ui().folder, 'app.env'), `# ${primary}\n`);
    await ui().openFile('app.env');
    assert.match(await editor.hover(primary), /click/);
    await editor.retype('PGHOST=');
    await editor.waitForSuggestion(/127\.0\.0\.1:\d+/);
    await harmless();
  });
});
