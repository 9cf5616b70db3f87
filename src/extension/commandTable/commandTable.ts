/**
 * All commands, with where and when VS Code offers them. `npm run manifest` writes it to package.json. Their handlers are in
 * `commandTable/commands.ts`, their titles in package.nls.json as `command.ID`. Nothing loads this at run time.
 */
import {
  apiKeysRow,
  apiKeysTitle,
  computesRow,
  computesTitle,
  editorTitle,
  explorerContext,
  fileContext,
  fileTitle,
  gitBranch,
  operationsTitle,
  sqlContext,
  type MenuEntry,
} from './menus.ts';
import {
  ACTIVE,
  all,
  API_KEY,
  API_KEY_IN_USE,
  BRANCH,
  CAN_START,
  CHILD_BRANCH,
  COMPUTE,
  ENABLED,
  FAILED,
  HAS_BRANCHES,
  IDLE,
  IN_FOLDER,
  inState,
  is,
  isNot,
  LISTED,
  LISTED_BRANCH,
  LISTED_PROJECT,
  LOADED,
  OPERATIONS_DOCUMENT,
  OTHER_BRANCH,
  PROJECT,
  PROJECT_OR_BRANCH,
  PROTECTED,
  ROWS_DOCUMENT,
  RUNNING,
  SCHEMA_DOCUMENT,
  SIGNED_IN,
  TRUSTED,
  UNPROTECTED,
  DATABASE_OR_TABLE,
  LOADED_ROWS,
} from './when.ts';

/** What a keybinding passes to its command: the selected row of which view. */
export type SelectedRow = 'selectedCompute' | 'selectedApiKey';

export interface CommandRow {
  /** A codicon. */
  readonly icon?: string;
  /** Whether the Command Palette hides it while signed out. Default: true. */
  readonly needsAccount?: false;
  /** When the Command Palette offers it, besides. Default: always. False: never. */
  readonly palette?: string | false;
  readonly menus?: readonly MenuEntry[];
  /** While a row of this kind has the focus. */
  readonly keys?: { readonly key: string; readonly mac?: string; readonly row: SelectedRow };
}

const ofBranch = (group: string): CommandRow => ({
  palette: HAS_BRANCHES,
  menus: [computesRow(group, LISTED_BRANCH)],
});

export const COMMAND_TABLE = {
  'hostedPostgres.account.connect': {
    icon: 'plug',
    needsAccount: false,
    menus: [computesTitle('navigation@1', FAILED)],
  },
  'hostedPostgres.account.switch': { needsAccount: false, menus: [computesTitle('1_account@1')] },
  'hostedPostgres.account.disconnect': { menus: [computesTitle('1_account@2', SIGNED_IN)] },
  'hostedPostgres.account.remove': { needsAccount: false },
  'hostedPostgres.account.organization': {},
  'hostedPostgres.account.mark': { menus: [computesTitle('1_account@3', SIGNED_IN)] },
  'hostedPostgres.project.mark': { menus: [computesRow('2_change@8', PROJECT)] },
  'hostedPostgres.view.refresh': {
    icon: 'refresh',
    menus: [
      computesTitle('navigation@4', SIGNED_IN),
      apiKeysTitle('navigation@2'),
      computesRow('2_change@1', PROJECT),
      computesRow('inline@1', LOADED_ROWS),
    ],
  },
  'hostedPostgres.view.showMore': { palette: false },
  'hostedPostgres.view.showNamesFirst': {
    palette: isNot('namesFirst'),
    menus: [computesTitle('0_order@1', inState('ready'), isNot('namesFirst'))],
  },
  'hostedPostgres.view.showIdsFirst': {
    palette: is('namesFirst'),
    menus: [computesTitle('0_order@1', inState('ready'), is('namesFirst'))],
  },
  'hostedPostgres.view.copyId': {
    menus: [computesRow('1_copy@6', COMPUTE), computesRow('3_copy@1', PROJECT_OR_BRANCH)],
  },
  'hostedPostgres.compute.find': { icon: 'search', menus: [computesTitle('navigation@3', inState('ready'))] },
  'hostedPostgres.compute.create': {
    icon: 'add',
    menus: [
      computesTitle('navigation@2', inState('ready')),
      computesRow('1_create@1', PROJECT_OR_BRANCH),
      computesRow('inline@1', BRANCH),
    ],
  },
  'hostedPostgres.compute.edit': {
    icon: 'edit',
    menus: [computesRow('2_change@1', COMPUTE)],
    keys: { key: 'f2', row: 'selectedCompute' },
  },
  'hostedPostgres.compute.restart': {
    icon: 'debug-restart',
    menus: [computesRow('inline@2', RUNNING), computesRow('2_change@2', RUNNING)],
  },
  'hostedPostgres.compute.start': {
    icon: 'play',
    palette: CAN_START,
    menus: [computesRow('inline@3', IDLE, CAN_START), computesRow('2_change@3', IDLE, CAN_START)],
  },
  'hostedPostgres.compute.suspend': {
    icon: 'debug-pause',
    palette: CAN_START,
    menus: [computesRow('inline@3', ACTIVE, CAN_START), computesRow('2_change@3', ACTIVE, CAN_START)],
  },
  'hostedPostgres.compute.delete': {
    icon: 'trash',
    menus: [computesRow('3_delete@1', COMPUTE)],
    keys: { key: 'delete', mac: 'cmd+backspace', row: 'selectedCompute' },
  },
  'hostedPostgres.compute.copyHost': {
    icon: 'copy',
    menus: [computesRow('inline@1', COMPUTE), computesRow('1_copy@1', COMPUTE)],
    keys: { key: 'ctrl+c', mac: 'cmd+c', row: 'selectedCompute' },
  },
  'hostedPostgres.compute.copyConnectionString': { menus: [computesRow('1_copy@2', COMPUTE)] },
  'hostedPostgres.compute.copyAs': { menus: [computesRow('1_copy@3', COMPUTE)] },
  'hostedPostgres.compute.insertHost': { palette: all('editorIsOpen', '!activeEditorIsReadonly') },
  'hostedPostgres.compute.openPsql': {
    icon: 'terminal',
    palette: TRUSTED,
    menus: [computesRow('0_open@1', ENABLED, TRUSTED)],
  },
  'hostedPostgres.branch.create': {
    icon: 'git-branch',
    palette: HAS_BRANCHES,
    menus: [computesRow('1_create@2', LISTED), computesRow('inline@1', LISTED_PROJECT)],
  },
  'hostedPostgres.branch.rename': ofBranch('2_change@1'),
  'hostedPostgres.branch.protect': { palette: HAS_BRANCHES, menus: [computesRow('2_change@2', UNPROTECTED)] },
  'hostedPostgres.branch.unprotect': { palette: HAS_BRANCHES, menus: [computesRow('2_change@2', PROTECTED)] },
  'hostedPostgres.branch.setDefault': {
    palette: HAS_BRANCHES,
    menus: [computesRow('2_change@3', OTHER_BRANCH)],
  },
  'hostedPostgres.branch.changeExpiry': {
    palette: HAS_BRANCHES,
    menus: [computesRow('2_change@5', OTHER_BRANCH)],
  },
  'hostedPostgres.branch.reset': { palette: HAS_BRANCHES, menus: [computesRow('2_change@4', CHILD_BRANCH)] },
  'hostedPostgres.branch.createFromTime': ofBranch('2_time@2'),
  'hostedPostgres.undo': ofBranch('2_time@1'),
  'hostedPostgres.history.mark': ofBranch('2_time@5'),
  'hostedPostgres.history.openPsql': {
    palette: all(HAS_BRANCHES, TRUSTED),
    menus: [computesRow('2_time@4', LISTED_BRANCH, TRUSTED)],
  },
  'hostedPostgres.history.compareSchema': ofBranch('2_time@3'),
  'hostedPostgres.branch.delete': ofBranch('9_delete@1'),
  'hostedPostgres.schema.compare': ofBranch('2_schema@1'),
  'hostedPostgres.schema.open': ofBranch('2_schema@2'),
  'hostedPostgres.schema.refresh': {
    icon: 'refresh',
    palette: SCHEMA_DOCUMENT,
    menus: [editorTitle('navigation', SCHEMA_DOCUMENT)],
  },
  'hostedPostgres.rows.peek': {
    palette: HAS_BRANCHES,
    menus: [
      computesRow('2_schema@3', LISTED_BRANCH),
      computesRow('0_rows@1', DATABASE_OR_TABLE),
      sqlContext('z_hostedPostgres@1'),
    ],
  },
  'hostedPostgres.rows.compare': {
    palette: HAS_BRANCHES,
    menus: [
      computesRow('2_schema@4', LISTED_BRANCH),
      computesRow('0_rows@2', DATABASE_OR_TABLE),
      sqlContext('z_hostedPostgres@2'),
    ],
  },
  'hostedPostgres.rows.refresh': {
    icon: 'refresh',
    palette: ROWS_DOCUMENT,
    menus: [editorTitle('navigation', ROWS_DOCUMENT)],
  },
  'hostedPostgres.sql.run': {
    palette: all('resourceLangId == sql', TRUSTED, HAS_BRANCHES),
    menus: [
      fileTitle('5_hostedPostgres@1'),
      fileContext('z_hostedPostgres@3'),
      explorerContext('5_hostedPostgres@1'),
    ],
  },
  'hostedPostgres.project.create': {
    palette: HAS_BRANCHES,
    menus: [computesTitle('0_project@1', LOADED, HAS_BRANCHES)],
  },
  'hostedPostgres.project.delete': {
    palette: HAS_BRANCHES,
    menus: [computesRow('9_delete@1', LISTED_PROJECT)],
  },
  'hostedPostgres.compute.openIn': { menus: [computesRow('0_open@2', ENABLED)] },
  'hostedPostgres.connectionString.writeEnv': {
    palette: IN_FOLDER,
    menus: [computesRow('1_copy@4', COMPUTE, IN_FOLDER)],
  },
  'hostedPostgres.connection.addService': {
    palette: TRUSTED,
    menus: [computesRow('1_copy@5', COMPUTE, TRUSTED)],
  },
  'hostedPostgres.role.resetPassword': ofBranch('2_change@8'),
  'hostedPostgres.input.host': { palette: false },
  'hostedPostgres.input.url': { palette: false },
  'hostedPostgres.input.service': { palette: false },
  'hostedPostgres.apiKey.create': { icon: 'add', menus: [apiKeysTitle('navigation@1')] },
  'hostedPostgres.apiKey.revoke': {
    icon: 'trash',
    menus: [apiKeysRow('inline@2', API_KEY), apiKeysRow('3_delete@1', API_KEY)],
    keys: { key: 'delete', mac: 'cmd+backspace', row: 'selectedApiKey' },
  },
  'hostedPostgres.apiKey.rotate': {
    icon: 'sync',
    menus: [
      apiKeysTitle('1_key@1'),
      apiKeysRow('inline@1', API_KEY_IN_USE),
      apiKeysRow('2_change@1', API_KEY_IN_USE),
    ],
  },
  'hostedPostgres.operations.refresh': {
    icon: 'refresh',
    palette: OPERATIONS_DOCUMENT,
    menus: [operationsTitle('navigation')],
  },
  'hostedPostgres.operations.show': {
    menus: [computesRow('1_copy@8', COMPUTE), computesRow('3_copy@3', PROJECT)],
  },
  'hostedPostgres.localService.setUpPostgres': {},
  'hostedPostgres.localService.start': {
    needsAccount: false,
    palette: isNot('localServiceRuns'),
    menus: [computesTitle('2_local@1', isNot('localServiceRuns'))],
  },
  'hostedPostgres.localService.stop': {
    needsAccount: false,
    menus: [computesTitle('2_local@2', is('localServiceRuns'))],
  },
  'hostedPostgres.details.show': {
    menus: [
      computesRow('1_copy@7', COMPUTE),
      apiKeysRow('1_details@1', API_KEY),
      computesRow('3_copy@2', PROJECT_OR_BRANCH),
    ],
  },
  'hostedPostgres.log.show': { needsAccount: false, menus: [computesTitle('3_log@1')] },
  'hostedPostgres.workBranch.create': {
    icon: 'git-branch',
    palette: all(IN_FOLDER, HAS_BRANCHES),
    menus: [gitBranch('5_hostedPostgres@1')],
  },
  'hostedPostgres.workBranch.show': { palette: IN_FOLDER },
  'hostedPostgres.workBranch.choose': { palette: all(IN_FOLDER, HAS_BRANCHES) },
  'hostedPostgres.workBranch.follow': { palette: all(IN_FOLDER, HAS_BRANCHES, isNot('followsGit')) },
  'hostedPostgres.workBranch.stopFollowing': { palette: all(IN_FOLDER, is('followsGit')) },
  'hostedPostgres.workBranch.tidyUp': {
    palette: all(IN_FOLDER, HAS_BRANCHES),
    menus: [gitBranch('5_hostedPostgres@2')],
  },
  'hostedPostgres.agents.copyConfiguration': { needsAccount: false },
  'hostedPostgres.agents.copyInstructions': { needsAccount: false },
  'hostedPostgres.agents.deleteBranches': { palette: HAS_BRANCHES },
} satisfies Readonly<Record<`hostedPostgres.${string}`, CommandRow>>;

export type CommandId = keyof typeof COMMAND_TABLE;
