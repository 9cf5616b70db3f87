import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleFile, manifestTextsFile, readTexts } from '../../helpers/l10nTexts.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { leftOut, pseudo, PSEUDO } from '../../helpers/pseudo.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

const texts = readTexts(manifestTextsFile());
const title = (key: string) => pseudo(texts[key] ?? '');
const command = (key: string) => `${title('category')}: ${title(`command.${key}`)}`;
const said = (text: string) =>
  new RegExp(
    pseudo(text)
      .replaceAll(/[()[\]…?.]/g, '\\$&')
      .replaceAll(/\\?\{\d\}/g, '.*'),
  );

/** Names in the sample account, names of Postgres, and what VS Code itself says. */
const DATA = ['shop', 'analytics', 'playground', 'primary', 'reports', 'dashboards', 'given at start'].concat(
  ['main', 'checkout-rewrite', 'before-migration'],
  [
    'Neon',
    'https://console.neon.tech/api/v2',
    'local',
    'max_connections',
    'vCPU',
    'GB RAM',
    'work_mem = 16MB',
    'Postgres',
  ],
  ['More Actions...', 'Collapse All', 'Cancel', 'Back'],
);

/** Copies the extension and gives the copy a translation into no language. */
async function translatedCopy(folder: string): Promise<void> {
  for (const name of ['package.json', 'package.nls.json', 'media', 'dist', 'l10n'])
    await cp(path.join(projectRoot, name), path.join(folder, name), { recursive: true });
  for (const [file, to] of [
    [bundleFile(), `l10n/bundle.l10n.${PSEUDO}.json`],
    [manifestTextsFile(), `package.nls.${PSEUDO}.json`],
  ] as const) {
    const translated = Object.entries(readTexts(file)).map(([key, text]) => [key, pseudo(text)]);
    await writeFile(path.join(folder, to), JSON.stringify(Object.fromEntries(translated)));
  }
}

describe('In a pseudo-language, every text is translated', () => {
  const extension = temporaryFolder();
  before(() => translatedCopy(extension));
  const ui = useWorkbench({
    extension,
    // The display language as VS Code reads it; its own texts stay as they are without a language pack.
    async prepare(page) {
      const language = `{ get: () => '${PSEUDO}', set() {} }`;
      await page.addInitScript(`Object.defineProperty(globalThis, '_VSCODE_NLS_LANGUAGE', ${language})`);
    },
  });
  const service = useService({ args: [] });

  const translated = (where: string, shown: readonly string[]) => {
    assert.ok(
      shown.some((text) => text.includes('⟦')),
      `${where}: ${shown.join(' | ')}`,
    );
    const wrong = shown.flatMap((text) => (leftOut(text, DATA).length > 0 ? [text] : []));
    assert.deepEqual(wrong, [], where);
  };
  const asked = async (question: string | RegExp, more: readonly string[] = []) => {
    const { title: heading, message, placeholder, items } = await ui().quickInput.waitFor(question);
    translated(String(question), [heading, message.replace(/\(Press.*/, ''), placeholder, ...items, ...more]);
  };
  const sidebar = () => ui().page.locator('.part.sidebar');
  const tree = () => ui().tree(title('view.computes'));

  it('of the sidebar and its welcome', async () => {
    await ui()
      .page.locator('.activitybar')
      .getByRole('tab', { name: title('extension.displayName') })
      .click();
    await sidebar().locator('.welcome-view-content p').first().waitFor();
    const shown = sidebar().locator('.welcome-view-content p, .pane-header .title, h2');
    translated('the sidebar', await shown.allInnerTexts());
  });

  it('of connecting', async () => {
    await ui().runCommand(command('account.connect'));
    const pick = said('Select a service or enter its base URL (https://…/api/v2)');
    await asked(pick);
    await ui().quickInput.answer(pick, service().baseUrl);
    await asked(said('API key for {0}'));
    await ui().quickInput.answer(/./, service().key);
    translated('announcement', [(await ui().statusBar.waitFor(/⟦Cónnéctéd/)).text]);
  });

  it('of rows, their tooltips and menus', async () => {
    await tree().waitForFirstProject();
    await tree().waitFor(/ep-little-smoke/);
    // The names of branches come last and replace the rows.
    await tree().waitFor(/main.*br-aged/);
    translated('rows', await sidebar().locator('.monaco-list-row').allInnerTexts());
    translated('labels', await tree().labels());
    const tooltip = await tree().tooltip(/reports|ep-steep/);
    translated('tooltip', [tooltip.replaceAll(/\d\S* [AP]M/g, '')]);
    for (const row of [/shop/, /br-aged/, /ep-little-smoke/])
      translated('menu', await tree().contextMenuItems(row));
    for (const submenu of ['branchData', 'branchMore'])
      translated('menu', await tree().contextMenuItems(/br-aged/, title(`submenu.${submenu}`)));
  });

  it('of the palette', async () => {
    await ui().page.keyboard.press('F1');
    await ui().quickInput.type(/./, `>${title('category')}: `);
    const items = await until('the commands', async () => {
      const content = await ui().quickInput.read();
      const ours = content?.items.filter((item) => item.startsWith(title('category'))) ?? [];
      return ours.length > 5 && ours;
    });
    translated('palette', items);
    await ui().quickInput.cancel(/./);
  });

  it('of creating a compute', async () => {
    await tree().contextMenu(/br-aged/, title('submenu.branchMore'), title('command.compute.create'));
    await asked(/⟦Séléct thé typé/);
    await ui().quickInput.accept(/⟦/);
    await asked(/⟦Séléct á fíxéd sízé/);
    await ui().quickInput.accept(/⟦Séléct á fíxéd sízé/);
    await asked(/⟦Súspénd/);
    await ui().quickInput.cancel(/⟦/);
  });

  const disable = async () => {
    await tree().contextMenu(/ep-little-smoke/, title('command.compute.edit'));
    await asked(said('Select what to change on {0}'));
    await ui().quickInput.choose(/⟦/, pseudo('Disable…'));
    const { message, detail, buttons } = await ui().dialog.read();
    translated('dialog', [message, detail, ...buttons]);
  };

  it('of editing, with its confirmation', async () => {
    await disable();
    await ui().dialog.press('Cancel');
    await tree().inlineAction(/ep-little-smoke/, title('command.compute.suspend'));
    translated('end', [(await ui().statusBar.waitFor(/Súspéndéd/)).label]);
  });

  it('of failures', async () => {
    await disable();
    const [compute] = (await service().client.listComputes('shiny-wind-028834')).items.filter(({ id }) =>
      id.startsWith('ep-little-smoke'),
    );
    await service().client.deleteCompute('shiny-wind-028834', compute?.id ?? '');
    await ui().dialog.press(pseudo('Disable'));
    const { message, buttons } = await ui().notifications.waitFor(/ep-little-smoke/);
    const own = message.replace(/There is no compute.*/, ''); // The service's part is not translated.
    translated('notification', [own, ...buttons]);
  });
});
