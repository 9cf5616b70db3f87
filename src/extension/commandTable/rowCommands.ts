/** The commands for the keys of rows, and those that menus show with the keys. */
import { branchMoreMenu, rowMenu, type CommandRow } from './menus.ts';
import { BRANCH, COMPUTE, LISTED_BRANCH, PROJECT, PROJECT_BRANCH_OR_SNAPSHOT, SNAPSHOT } from './when.ts';

export const ROW_COMMANDS = {
  'hostedPostgres.row.edit': {
    palette: false,
    keys: {
      key: 'f2',
      row: 'selectedInComputes',
      shownAt: {
        'hostedPostgres.compute.edit': COMPUTE,
        'hostedPostgres.branch.rename': LISTED_BRANCH,
        'hostedPostgres.project.rename': PROJECT,
        'hostedPostgres.snapshot.rename': SNAPSHOT,
      },
    },
  },
  'hostedPostgres.row.delete': {
    palette: false,
    keys: {
      key: 'delete',
      mac: 'cmd+backspace',
      row: 'selectedInComputes',
      shownAt: {
        'hostedPostgres.compute.delete': COMPUTE,
        'hostedPostgres.branch.delete': LISTED_BRANCH,
        'hostedPostgres.project.delete': PROJECT,
        'hostedPostgres.snapshot.delete': SNAPSHOT,
      },
    },
  },
  'hostedPostgres.row.copy': {
    palette: false,
    keys: {
      key: 'ctrl+c',
      mac: 'cmd+c',
      row: 'selectedInComputes',
      shownAt: {
        'hostedPostgres.row.copyHost': COMPUTE,
        'hostedPostgres.row.copyId': PROJECT_BRANCH_OR_SNAPSHOT,
      },
    },
  },
  // VS Code shows the key of a command in the palette and in all menus, also where that key does something else. So these have their
  // own commands in the menus where the key does the same.
  'hostedPostgres.row.copyHost': { palette: false, menus: [rowMenu('1_copy@3', COMPUTE)] },
  'hostedPostgres.row.copyId': {
    palette: false,
    menus: [branchMoreMenu('3_copy@1', BRANCH), rowMenu('4_copy@1', PROJECT), rowMenu('4_copy@1', SNAPSHOT)],
  },
} satisfies Readonly<Record<`hostedPostgres.${string}`, CommandRow>>;
