/** The commands for projects and branches, with their schemas, rows and history. */
import {
  branchDataMenu,
  branchMoreMenu,
  rowMenu,
  computesToolbar,
  editorToolbar,
  sqlEditorMenu,
  type CommandRow,
  type MakeMenuEntry,
} from './menus.ts';
import {
  allOf,
  CHILD_BRANCH,
  DATABASE_OR_TABLE,
  HAS_BRANCHES,
  HAS_SNAPSHOTS,
  LISTED_PROJECT_OR_BRANCH,
  LISTED_BRANCH,
  LISTED_PROJECT,
  HAS_LOADED,
  NON_DEFAULT_BRANCH,
  PROTECTED_BRANCH,
  ROWS_DOCUMENT,
  SCHEMA_DOCUMENT,
  SNAPSHOT,
  SNAPSHOTS,
  TRUSTED,
  UNPROTECTED_BRANCH,
} from './when.ts';

/** Returns a command for listed branches, in the palette and in one menu of their rows. */
const branchMenu = (menu: MakeMenuEntry, group: string, row: string = LISTED_BRANCH): CommandRow => ({
  palette: HAS_BRANCHES,
  menus: [menu(group, row)],
});

/** Returns a command for the row of a snapshot. The palette has Undo… and Create Branch from a Time…, whose lists do the same. */
const snapshotMenu = (group: string): CommandRow => ({
  palette: false,
  menus: [rowMenu(group, SNAPSHOT)],
});

export const BRANCH_COMMANDS = {
  'hostedPostgres.branch.create': {
    icon: 'git-branch',
    palette: HAS_BRANCHES,
    menus: [rowMenu('2_branch@1', LISTED_PROJECT_OR_BRANCH), rowMenu('inline@1', LISTED_PROJECT)],
  },
  'hostedPostgres.branch.rename': branchMenu(branchMoreMenu, '2_change@1'),
  'hostedPostgres.branch.protect': branchMenu(branchMoreMenu, '2_change@2', UNPROTECTED_BRANCH),
  'hostedPostgres.branch.unprotect': branchMenu(branchMoreMenu, '2_change@2', PROTECTED_BRANCH),
  'hostedPostgres.branch.setDefault': branchMenu(branchMoreMenu, '2_change@3', NON_DEFAULT_BRANCH),
  'hostedPostgres.branch.reset': branchMenu(branchMoreMenu, '2_change@4', CHILD_BRANCH),
  'hostedPostgres.branch.changeExpiry': branchMenu(branchMoreMenu, '2_change@5', NON_DEFAULT_BRANCH),
  'hostedPostgres.role.resetPassword': branchMenu(branchMoreMenu, '2_change@6'),
  'hostedPostgres.branch.delete': branchMenu(rowMenu, '8_delete@1'),
  'hostedPostgres.undo': branchMenu(rowMenu, '2_branch@3'),
  'hostedPostgres.branch.createFromTime': branchMenu(branchDataMenu, '2_time@1'),
  'hostedPostgres.history.compareSchema': branchMenu(branchDataMenu, '2_time@2'),
  'hostedPostgres.history.compareRows': {
    palette: HAS_BRANCHES,
    menus: [branchDataMenu('2_time@3', LISTED_BRANCH), rowMenu('0_rows@3', DATABASE_OR_TABLE)],
  },
  'hostedPostgres.history.openPsql': {
    palette: allOf(HAS_BRANCHES, TRUSTED),
    menus: [branchDataMenu('2_time@4', LISTED_BRANCH, TRUSTED)],
  },
  'hostedPostgres.history.mark': branchMenu(branchDataMenu, '2_time@5'),
  'hostedPostgres.snapshot.create': {
    icon: 'add',
    palette: HAS_SNAPSHOTS,
    menus: [
      branchDataMenu('2_time@6', LISTED_BRANCH, HAS_SNAPSHOTS),
      rowMenu('inline@2', SNAPSHOTS),
      rowMenu('2_branch@1', SNAPSHOTS),
    ],
  },
  'hostedPostgres.snapshot.restore': snapshotMenu('2_change@1'),
  'hostedPostgres.snapshot.createBranch': snapshotMenu('2_change@2'),
  'hostedPostgres.snapshot.rename': snapshotMenu('3_change@1'),
  'hostedPostgres.snapshot.delete': snapshotMenu('8_delete@1'),
  'hostedPostgres.schema.compare': branchMenu(rowMenu, '2_branch@2'),
  'hostedPostgres.schema.open': branchMenu(branchDataMenu, '1_now@1'),
  'hostedPostgres.schema.refresh': {
    icon: 'refresh',
    palette: SCHEMA_DOCUMENT,
    menus: [editorToolbar('navigation', SCHEMA_DOCUMENT)],
  },
  'hostedPostgres.rows.peek': {
    palette: HAS_BRANCHES,
    menus: [
      branchDataMenu('1_now@2', LISTED_BRANCH),
      rowMenu('0_rows@1', DATABASE_OR_TABLE),
      sqlEditorMenu('z_hostedPostgres@1'),
    ],
  },
  'hostedPostgres.rows.compare': {
    palette: HAS_BRANCHES,
    menus: [
      branchDataMenu('1_now@3', LISTED_BRANCH),
      rowMenu('0_rows@2', DATABASE_OR_TABLE),
      sqlEditorMenu('z_hostedPostgres@2'),
    ],
  },
  'hostedPostgres.rows.refresh': {
    icon: 'refresh',
    palette: ROWS_DOCUMENT,
    menus: [editorToolbar('navigation', ROWS_DOCUMENT)],
  },
  'hostedPostgres.project.create': {
    palette: HAS_BRANCHES,
    menus: [computesToolbar('0_project@1', HAS_LOADED, HAS_BRANCHES)],
  },
  'hostedPostgres.project.rename': {
    palette: HAS_BRANCHES,
    menus: [rowMenu('3_change@1', LISTED_PROJECT)],
  },
  'hostedPostgres.project.replicate': { palette: HAS_BRANCHES, menus: [] },
  'hostedPostgres.project.recover': { palette: HAS_BRANCHES, menus: [] },
  'hostedPostgres.project.delete': {
    palette: HAS_BRANCHES,
    menus: [rowMenu('8_delete@1', LISTED_PROJECT)],
  },
} satisfies Readonly<Record<`hostedPostgres.${string}`, CommandRow>>;
