/** Which entries a row of the Computes view has in its menu, for every kind of row that the tree can show. */
import assert from 'node:assert/strict';
import { COMMAND_TABLE } from '../../src/extension/commandTable/commandTable.ts';
import { SUBMENUS, type CommandRow, type MenuEntry } from '../../src/extension/commandTable/menus.ts';

const MOST = 10;

const branchRows = ['default protected root', 'default unprotected root', 'other protected child'].flatMap(
  (flags) => [`branch listed ${flags} primary`, `branch listed ${flags}`],
);
const computeRows = ['pending', 'init', 'active', 'idle', 'disabled', 'unknown'].flatMap((status) =>
  ['read_write', 'read_only pooled'].map((flags) => `compute ${status} ${flags}`),
);
const rows = [
  'project',
  'project branches',
  'branch',
  'branch primary',
  ...branchRows,
  'branch listed other unprotected child primary',
  ...computeRows,
  'compute idle read_write failed local',
  'compute idle read_only pooled failed local',
  'databases',
  'database',
  'table',
  'snapshots',
  'snapshot',
];

interface Entry extends MenuEntry {
  readonly id: string;
}

const entries: readonly Entry[] = [
  ...Object.entries(COMMAND_TABLE).flatMap(([id, { menus = [] }]: [string, CommandRow]) =>
    menus.map((entry) => ({ ...entry, id })),
  ),
  ...Object.entries(SUBMENUS).map(([id, entry]) => ({ ...entry, id })),
];

/** Assumes that everything else is true: the folder is trusted, and the service offers everything. */
const isOn = ({ when }: MenuEntry, row: string): boolean =>
  when.split(' && ').every((condition) => {
    const expression = /^viewItem =~ \/(.*)\/$/.exec(condition)?.[1];
    return expression === undefined || new RegExp(expression).test(row);
  });

const entriesOf = (menu: MenuEntry['menu'], row: string): readonly Entry[] =>
  entries.filter(
    (entry) => entry.menu === menu && !entry.group.startsWith('inline') && isInComputes(entry, row),
  );

const isInComputes = (entry: Entry, row: string): boolean =>
  entry.when.includes('view == hostedPostgres.computes') && isOn(entry, row);

const idsOf = (menu: MenuEntry['menu'], row: string): readonly string[] =>
  entriesOf(menu, row).map(({ id }) => id.replace('hostedPostgres.', ''));

describe('The menu of a row', () => {
  for (const row of rows)
    it(`has at most ${MOST} entries, as has each submenu, and each submenu several: ${row}`, () => {
      const top = idsOf('view/item/context', row);
      assert.ok(top.length <= MOST, top.join());
      for (const submenu of Object.keys(SUBMENUS) as (keyof typeof SUBMENUS)[]) {
        const below = idsOf(submenu, row);
        const isShown = top.includes(submenu.replace('hostedPostgres.', ''));
        assert.equal(isShown, below.length > 0, submenu);
        assert.ok(below.length <= MOST && below.length !== 1, below.join());
      }
    });

  it('offers on a branch what its primary offers for a connection', () => {
    const forConnection = [
      'compute.openPsql',
      'compute.copyConnectionString',
      'connectionString.writeEnv',
      'compute.copyHost',
    ];
    for (const row of ['branch primary', ...branchRows.filter((each) => each.endsWith('primary'))]) {
      const top = idsOf('view/item/context', row);
      assert.deepEqual(
        forConnection.filter((id) => !top.includes(id)),
        [],
        row,
      );
    }
    assert.ok(
      !idsOf('view/item/context', 'branch listed default protected root').some((id) =>
        forConnection.includes(id),
      ),
    );
  });

  it('shows a key only where that key does the same', () => {
    const commands: readonly CommandRow[] = Object.values(COMMAND_TABLE);
    const shown = commands.flatMap(({ keys }) => Object.entries(keys?.shownAt ?? {}));
    for (const [id, when] of shown)
      for (const row of rows)
        for (const entry of entries.filter((each) => each.id === id && isInComputes(each, row)))
          assert.ok(isOn({ ...entry, when }, row), `${id} on ${row}`);
  });

  it('offers at most four buttons', () => {
    for (const row of rows) {
      const buttons = entries.filter((entry) => entry.group.startsWith('inline') && isInComputes(entry, row));
      assert.ok(buttons.length <= 4, `${row}: ${buttons.map(({ id }) => id).join()}`);
    }
  });
});
