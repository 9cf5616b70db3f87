// `npm run manifest`: writes to package.json what comes from tables of the source: commands with their menus and keybindings,
// welcome texts, and the tools for agents. With --check, as in `npm run lint`, only fails if that is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { listTools } from '../src/extension/agents/tools/toolTable.ts';
import { COMMAND_TABLE } from '../src/extension/commandTable/commandTable.ts';
import { SUBMENUS, type CommandRow, type SelectedRow } from '../src/extension/commandTable/menus.ts';
import { allOf, inState, SIGNED_IN, WELCOME_TEXTS } from '../src/extension/commandTable/when.ts';

const FILE = path.join(import.meta.dirname, '..', 'package.json');
const rows: readonly [string, CommandRow][] = Object.entries(COMMAND_TABLE);

const commands = rows.map(([command, { icon }]) => ({
  command,
  title: `%${command.replace('hostedPostgres', 'command')}%`,
  category: '%category%',
  ...(icon !== undefined && { icon: `$(${icon})` }),
}));

const commandPalette = rows.flatMap(([command, { needsAccount, palette }]) => {
  if (palette === false) return [{ command, when: 'false' }];
  const conditions = [
    ...(needsAccount === false ? [] : [SIGNED_IN]),
    ...(palette === undefined ? [] : [palette]),
  ];
  return conditions.length === 0 ? [] : [{ command, when: allOf(...conditions) }];
});

const menuEntries = [
  ...rows.flatMap(([command, { menus = [] }]) =>
    menus.map(({ menu, when, group }) => [menu, { command, when, group }] as const),
  ),
  ...Object.entries(SUBMENUS).map(
    ([submenu, { menu, when, group }]) => [menu, { submenu, when, group }] as const,
  ),
];
const submenus = Object.keys(SUBMENUS).map((id) => ({
  id,
  label: `%${id.replace('hostedPostgres', 'submenu')}%`,
}));
const menus = Object.groupBy(menuEntries, ([menu]) => menu);

const FOCUSED: Readonly<Record<SelectedRow, string>> = {
  // Not a collapsed row without loaded rows below a branch: it would connect to the database.
  selectedInComputes:
    'focusedView == hostedPostgres.computes && listFocus && !inputFocus && (!treeElementHasParent || !treeElementCanExpand || treeElementHasChild)',
  selectedInApiKeys: 'focusedView == hostedPostgres.apiKeys && listFocus && !inputFocus',
};

/**
 * A keybinding can't pass a row, so it selects the row with the focus and names the view. Selecting also expands or collapses
 * a row with children, which is undone at once.
 */
const keybindings = rows.flatMap(([command, { keys }]) => {
  if (keys === undefined) return [];
  const { row, shownAt = {}, ...combination } = keys;
  const args = { commands: ['list.select', 'list.toggleExpand', { command, args: row }] };
  // VS Code sets `viewItem` only for a menu. It shows the keys there, and a key itself runs only the first of these.
  return [
    { command: 'runCommands', args, ...combination, when: FOCUSED[row] },
    ...Object.entries(shownAt).map(([shown, rows]) => ({
      command: shown,
      ...combination,
      when: allOf(FOCUSED[row], rows),
    })),
  ];
});

const viewsWelcome = [
  ...WELCOME_TEXTS.map(([text, when]) => ({ view: 'hostedPostgres.computes', contents: `%${text}%`, when })),
  { view: 'hostedPostgres.apiKeys', contents: '%welcome.apiKeys%', when: inState('signedOut') },
];

/** Names, icons and texts for users are only in package.json. */
const languageModelTools = manifest.contributes.languageModelTools.map((tool) => {
  const found = listTools().find(({ name }) => tool.name === `hostedPostgres_${name}`);
  if (found === undefined) throw new Error(`There is no tool ${tool.name}`);
  return { ...tool, modelDescription: found.description, inputSchema: found.inputSchema };
});

const contributes = {
  ...manifest.contributes,
  viewsWelcome,
  commands,
  submenus,
  menus: {
    commandPalette,
    ...Object.fromEntries(
      Object.entries(menus).map(([menu, list]) => [menu, list.map(([, entry]) => entry)]),
    ),
  },
  keybindings,
  languageModelTools,
};

const text = `${JSON.stringify({ ...manifest, contributes }, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('package.json is not what the tables say: run `npm run manifest`');
  process.exitCode = 1;
}
