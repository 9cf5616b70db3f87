/**
 * The story of a column that is dropped with values in it, by keyboard alone: what a screen reader gets, and how the document looks in
 * four themes and in German. Each step leaves a picture in `dist/rehearsal-story`.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleFile, manifestTextsFile, readTexts } from '../../helpers/l10nTexts.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { branchApi, BRANCH as main } from '../../real/service/postgres/catalog/branchApi.ts';
import { runStatements } from '../../real/service/postgres/clients.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { until } from '../../workbench/until.ts';
import { connect } from './connect.ts';
import { closeEditors } from './resetWindow.ts';
import { useWorkbench } from './useWorkbench.ts';

const pictures = path.join(projectRoot, 'dist', 'rehearsal-story');
const FILE = '0007_cleanup.sql';
const MIGRATION = [
  'begin;',
  'alter table users drop column nick;',
  'create index on invoices (total);',
  'alter table invoices alter column total type bigint;',
  'commit;',
];
/** The least contrast of text (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5;

interface Styled {
  readonly parentElement: Styled | null;
}
declare const getComputedStyle: (element: Styled) => {
  readonly color: string;
  readonly backgroundColor: string;
  getPropertyValue(name: string): string;
};

/** Returns red, green, blue, and alpha if the color is transparent. @param color as `rgb(…)` or `#rrggbb` */
const channels = (color: string): number[] =>
  color.startsWith('#')
    ? [...color.matchAll(/[\da-f]{2}/gi)].map(([number]) => Number.parseInt(number, 16))
    : [...color.matchAll(/[\d.]+/g)].map(([number]) => Number(number));

/** @param behind the backgrounds, the nearest first */
function contrast(color: string, behind: readonly string[]): number {
  let [red = 0, green = 0, blue = 0]: number[] = [];
  for (const each of behind.toReversed()) {
    const [r = 0, g = 0, b = 0, alpha = 1] = channels(each);
    [red, green, blue] = [r, g, b].map((value, index) => {
      const below = [red, green, blue][index] ?? 0;
      return value * alpha + below * (1 - alpha);
    }) as [number, number, number];
  }
  const luminance = (rgb: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const both = [luminance(channels(color).slice(0, 3)), luminance([red, green, blue])];
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}

describe('The story of a dropped column', () => {
  const ui = useWorkbench({ size: { width: 1280, height: 960 } });
  let service: LocalService;

  const preview = () =>
    ui().page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('body');
  const picture = (name: string | RegExp) => preview().getByRole('img', { name });
  const shoot = async (name: string) => ui().screenshot(path.join(pictures, `${name}.png`));
  const press = async (key: string) => ui().page.keyboard.press(key);
  /** Runs a command of the palette. */
  const run = async (title: string) => {
    await ui().quickInput.searchCommands(title, async () => {
      assert.equal((await ui().quickInput.read())?.items[0], title);
      await press('Enter');
    });
  };
  /** Rehearses the file with the keyboard. @param said returns the text of the window that is this one in English */
  const rehearse = async (language: string, command: string, said = (english: string) => english) => {
    await press('ControlOrMeta+p');
    await ui().quickInput.type('Search files by name', path.join(ui().folder, FILE));
    await until(FILE, async () => (await ui().quickInput.read())?.items[0]?.startsWith(FILE));
    await ui().quickInput.accept('Search files by name');
    await ui().page.locator('.tab.active').getByText(FILE, { exact: true }).waitFor();
    await run(command);
    const what = said('Select what to rehearse, or enter a command that migrates');
    await until(
      'the file to be the first',
      async () => (await ui().quickInput.waitFor(what)).items[0] === FILE,
    );
    await shoot(`${language}-1-what`);
    await ui().quickInput.accept(what);
    const branch = said('Select the branch to copy for the rehearsal');
    await until('the branch of .env to be the first', async () =>
      (await ui().quickInput.waitFor(branch)).items[0]?.startsWith('main'),
    );
    await shoot(`${language}-2-branch`);
    await ui().quickInput.accept(branch);
    await ui().dialog.read();
    await shoot(`${language}-3-question`);
    await press('Enter');
  };

  before(async () => {
    rmSync(pictures, { recursive: true, force: true });
    mkdirSync(pictures, { recursive: true });
    service = await startLocalService();
    const uri = await branchApi(() => service, main).uri();
    await runStatements(
      uri,
      'create table users (id int primary key, nick text)',
      "insert into users select g, case when g <= 1204 then 'n' end from generate_series(1, 2000) g",
      'create table invoices (id int primary key, total int)',
      'insert into invoices select g, g from generate_series(1, 200000) g',
    );
    await writeFile(path.join(ui().folder, FILE), `${MIGRATION.join('\n')}\n`);
    await writeFile(path.join(ui().folder, '.env'), `DATABASE_URL=${uri}\n`);
    await connect(ui(), service);
    await ui().statusBar.waitFor(/^main/);
  });

  /** Returns the colors of the picture of the locks, if the document has the style. */
  const colorsIn = async (style: string) => {
    if (!((await preview().getAttribute('class')) ?? '').split(' ').includes(style)) return undefined;
    return picture(/^Locks/).evaluate((element: Styled) => {
      const behind = [];
      for (let each: Styled | null = element; each !== null; each = each.parentElement)
        behind.push(getComputedStyle(each).backgroundColor);
      // What is behind the document, which is transparent.
      behind.push(getComputedStyle(element).getPropertyValue('--vscode-editor-background'));
      return { color: getComputedStyle(element).color, behind };
    });
  };

  it('can be followed with the keyboard alone, the verdict first', async () => {
    await rehearse('English', 'Hosted Postgres: Rehearse Migration…');
    await preview()
      .getByRole('heading', { level: 1, name: 'Loses 1,204 values of public.users.nick.' })
      .waitFor();
    await preview().getByText('The only known way back is Undo, within 24 hr.').waitFor();
    await ui().statusBar.waitFor('Loses 1,204 values of public.users.nick.');
  });

  it('has tables with headings and a picture with a text, for a screen reader', async () => {
    const headings = await preview().getByRole('columnheader').allInnerTexts();
    // On a slow machine, locks are dangerous, too, and have safer forms.
    assert.deepEqual(headings.slice(0, 4), ['Statement', 'Time', 'Who waits', 'Result']);
    const name =
      /^Locks within .*: .*reads and writes of public\.users: up to .*, after .*; writes of public\.invoices: up to /;
    const text = await picture(name).innerText();
    const [users = '', invoices = ''] = text.split('\n');
    assert.match(users, /^·*█+·* {2}public\.users$/);
    assert.match(invoices, /^·*▒*█+·* {2}public\.invoices$/);
    await preview().getByRole('heading', { level: 2, name: 'Locks over time' }).waitFor();
  });

  it('scrolls by keyboard as soon as it is open', async () => {
    await until('the document to be focused', async () =>
      ui().page.evaluate("document.activeElement?.matches('iframe.webview.ready') === true"),
    );
    await press('End');
    await until('its end', async () =>
      preview().evaluate('innerHeight + scrollY >= document.body.scrollHeight - 1 || scrollY > 0'),
    );
    await press('Home');
  });

  for (const [theme, style] of [
    ['Dark Modern', 'vscode-dark'],
    ['Light Modern', 'vscode-light'],
    ['Dark High Contrast', 'vscode-high-contrast'],
    ['Light High Contrast', 'vscode-high-contrast-light'],
  ] as const)
    it(`has a picture that can be read in ${theme}`, async () => {
      await ui().runCommand('Preferences: Color Theme');
      await ui().quickInput.type('Select Color Theme', theme);
      await until(theme, async () => (await ui().quickInput.read())?.items[0]?.startsWith(theme));
      await ui().quickInput.accept('Select Color Theme');
      // VS Code renders the document again once the theme is saved, which may be while its colors are read.
      const replaced = (error: Error) => {
        if (!/detached|destroyed/.test(error.message)) throw error;
        return undefined;
      };
      const { color, behind } = await until(style, () => colorsIn(style).catch(replaced));
      const found = contrast(color, behind);
      assert.ok(found >= LEAST_CONTRAST, `${found} of ${color} on ${behind.join(', ')}`);
      await shoot(theme.replaceAll(' ', '-'));
    });

  it('has German texts, too', async () => {
    await ui().page.addInitScript(
      `Object.defineProperty(globalThis, '_VSCODE_NLS_LANGUAGE', { get: () => 'de', set() {} })`,
    );
    await ui().reload();
    await ui().statusBar.waitFor(/^main/);
    // VS Code saves every few seconds what is open, so what comes back is the file, the document or both.
    await closeEditors(ui());
    const texts = readTexts(bundleFile('de'));
    const title = readTexts(manifestTextsFile('de'))['command.migration.rehearse'];
    await rehearse('German', `Hosted Postgres: ${title}`, (english) => texts[english] ?? english);
    const verdict = 'Verliert 1.204 Werte von public.users.nick.';
    await preview().getByRole('heading', { level: 1, name: verdict }).waitFor();
    await preview().getByText('innerhalb von 24 Std.', { exact: false }).waitFor();
    assert.doesNotMatch(await preview().innerText(), /\.\.$/m);
    await picture(
      /^Sperren innerhalb von .*: .*Lese- und Schreibzugriffe auf public\.users: bis zu/,
    ).waitFor();
    await shoot('German-4-document');
  });
});
