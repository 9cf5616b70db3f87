/**
 * All commands, with where and when VS Code offers them. `npm run manifest` writes it to package.json. Their handlers are in
 * `commandHandlers.ts`, their titles in package.nls.json as `command.ID`. Nothing loads this at run time.
 */
import { BRANCH_COMMANDS } from './branchCommands.ts';
import { ROW_COMMANDS } from './rowCommands.ts';
import {
  apiKeyMenu,
  apiKeysToolbar,
  branchDataMenu,
  branchMoreMenu,
  computeMoreMenu,
  rowMenu,
  computesToolbar,
  editorToolbar,
  explorerFileMenu,
  explorerFolderMenu,
  sqlFileMenu,
  sqlFileToolbar,
  gitMenu,
  operationsToolbar,
  type CommandRow,
} from './menus.ts';
import {
  SUSPENDABLE_COMPUTE,
  allOf,
  API_KEY,
  API_KEY_IN_USE,
  BRANCH,
  BRANCH_WITH_PRIMARY,
  CAN_START,
  COMPUTE,
  CONNECTABLE,
  DATABASES,
  DETAILS_PAGE,
  ENABLED_COMPUTE,
  ENABLED_CONNECTABLE,
  LOADING_FAILED,
  FAILED_COMPUTE,
  HAS_BRANCHES,
  STARTABLE_COMPUTE,
  IN_FOLDER,
  inState,
  isSet,
  isUnset,
  HAS_LOADED,
  LAZY_ROW,
  LOCAL_COMPUTE,
  DATABASE_OBJECT,
  OPERATIONS_DOCUMENT,
  LISTED_BRANCH,
  PROJECT,
  RUNNING_COMPUTE,
  SIGNED_IN,
  TRUSTED,
} from './when.ts';

export const COMMAND_TABLE = {
  'hostedPostgres.account.connect': {
    icon: 'plug',
    needsAccount: false,
    menus: [computesToolbar('navigation@1', LOADING_FAILED)],
  },
  'hostedPostgres.account.switch': { needsAccount: false, menus: [computesToolbar('1_account@1')] },
  'hostedPostgres.account.disconnect': { menus: [computesToolbar('1_account@2', SIGNED_IN)] },
  'hostedPostgres.account.remove': { needsAccount: false },
  'hostedPostgres.account.organization': {},
  'hostedPostgres.account.mark': { menus: [computesToolbar('1_account@3', SIGNED_IN)] },
  'hostedPostgres.project.mark': { menus: [rowMenu('3_change@2', PROJECT)] },
  'hostedPostgres.view.refresh': {
    icon: 'refresh',
    menus: [
      computesToolbar('navigation@4', SIGNED_IN),
      apiKeysToolbar('navigation@2'),
      rowMenu('3_change@3', PROJECT),
      rowMenu('inline@1', LAZY_ROW),
      rowMenu('3_change@3', LAZY_ROW),
    ],
  },
  'hostedPostgres.view.showMore': { palette: false },
  'hostedPostgres.view.showNamesFirst': {
    palette: isUnset('namesFirst'),
    menus: [computesToolbar('0_order@1', inState('ready'), isUnset('namesFirst'))],
  },
  'hostedPostgres.view.showIdsFirst': {
    palette: isSet('namesFirst'),
    menus: [computesToolbar('0_order@1', inState('ready'), isSet('namesFirst'))],
  },
  'hostedPostgres.view.copyId': { menus: [computeMoreMenu('3_copy@1', COMPUTE)] },
  'hostedPostgres.view.copyName': { palette: false, menus: [rowMenu('1_copy@1', DATABASE_OBJECT)] },
  'hostedPostgres.view.create': { icon: 'add', menus: [computesToolbar('navigation@2', inState('ready'))] },
  'hostedPostgres.view.openConsole': {
    palette: isSet('hasConsole'),
    menus: [
      computeMoreMenu('5_console@1', COMPUTE, isSet('hasConsole')),
      branchMoreMenu('5_console@1', BRANCH, isSet('hasConsole')),
      rowMenu('4_copy@2', PROJECT, isSet('hasConsole')),
    ],
  },
  'hostedPostgres.compute.find': {
    icon: 'search',
    menus: [computesToolbar('navigation@3', inState('ready'))],
  },
  'hostedPostgres.compute.create': {
    icon: 'add',
    menus: [rowMenu('2_branch@2', PROJECT), branchMoreMenu('1_compute@1', BRANCH)],
  },
  'hostedPostgres.compute.edit': {
    icon: 'edit',
    menus: [rowMenu('2_change@1', COMPUTE)],
  },
  'hostedPostgres.compute.restart': {
    icon: 'debug-restart',
    menus: [rowMenu('inline@3', RUNNING_COMPUTE), rowMenu('2_change@2', RUNNING_COMPUTE)],
  },
  'hostedPostgres.compute.start': {
    icon: 'play',
    palette: CAN_START,
    menus: [rowMenu('inline@4', STARTABLE_COMPUTE), rowMenu('2_change@3', STARTABLE_COMPUTE)],
  },
  'hostedPostgres.compute.suspend': {
    icon: 'debug-pause',
    palette: CAN_START,
    menus: [rowMenu('inline@4', SUSPENDABLE_COMPUTE), rowMenu('2_change@3', SUSPENDABLE_COMPUTE)],
  },
  'hostedPostgres.compute.showLog': {
    icon: 'output',
    menus: [rowMenu('inline@0', LOCAL_COMPUTE, FAILED_COMPUTE), computeMoreMenu('3_copy@4', LOCAL_COMPUTE)],
  },
  'hostedPostgres.compute.delete': {
    icon: 'trash',
    menus: [rowMenu('8_delete@1', COMPUTE)],
  },
  'hostedPostgres.compute.copyHost': {
    icon: 'copy',
    menus: [rowMenu('inline@2', CONNECTABLE), rowMenu('1_copy@3', BRANCH_WITH_PRIMARY)],
  },
  'hostedPostgres.compute.copyConnectionString': {
    menus: [rowMenu('1_copy@1', CONNECTABLE), rowMenu('1_copy@2', DATABASES)],
  },
  'hostedPostgres.compute.copyAs': { menus: [computeMoreMenu('1_copy@1', COMPUTE)] },
  'hostedPostgres.compute.insertPassword': { palette: false },
  'hostedPostgres.compute.insertHost': { palette: allOf('editorIsOpen', '!activeEditorIsReadonly') },
  'hostedPostgres.compute.openPsql': {
    icon: 'terminal',
    palette: TRUSTED,
    menus: [
      rowMenu('inline@1', ENABLED_CONNECTABLE, TRUSTED),
      rowMenu('0_open@1', ENABLED_CONNECTABLE, TRUSTED),
      rowMenu('0_open@1', DATABASES, TRUSTED),
    ],
  },
  ...ROW_COMMANDS,
  ...BRANCH_COMMANDS,
  'hostedPostgres.sql.run': {
    palette: allOf('resourceLangId == sql', TRUSTED, HAS_BRANCHES),
    menus: [
      sqlFileToolbar('5_hostedPostgres@2'),
      sqlFileMenu('z_hostedPostgres@4'),
      explorerFileMenu('5_hostedPostgres@2'),
    ],
  },
  'hostedPostgres.migration.rehearse': {
    palette: allOf(TRUSTED, HAS_BRANCHES),
    menus: [
      sqlFileToolbar('5_hostedPostgres@1'),
      sqlFileMenu('z_hostedPostgres@3'),
      explorerFileMenu('5_hostedPostgres@1'),
      explorerFolderMenu('5_hostedPostgres@2'),
      branchDataMenu('1_now@4', LISTED_BRANCH, TRUSTED),
    ],
  },
  'hostedPostgres.compute.openIn': { menus: [rowMenu('0_open@2', ENABLED_COMPUTE)] },
  'hostedPostgres.connectionString.writeEnv': {
    palette: IN_FOLDER,
    menus: [rowMenu('1_copy@2', CONNECTABLE, IN_FOLDER)],
  },
  'hostedPostgres.connection.addService': {
    palette: TRUSTED,
    menus: [computeMoreMenu('1_copy@2', COMPUTE, TRUSTED)],
  },
  'hostedPostgres.input.host': { palette: false },
  'hostedPostgres.input.url': { palette: false },
  'hostedPostgres.input.service': { palette: false },
  'hostedPostgres.apiKey.create': { icon: 'add', menus: [apiKeysToolbar('navigation@1')] },
  'hostedPostgres.apiKey.revoke': {
    icon: 'trash',
    menus: [apiKeyMenu('inline@2', API_KEY), apiKeyMenu('3_delete@1', API_KEY)],
    keys: {
      key: 'delete',
      mac: 'cmd+backspace',
      row: 'selectedInApiKeys',
      shownAt: { 'hostedPostgres.apiKey.revoke': API_KEY },
    },
  },
  'hostedPostgres.apiKey.rotate': {
    icon: 'sync',
    menus: [
      apiKeysToolbar('1_key@1'),
      apiKeyMenu('inline@1', API_KEY_IN_USE),
      apiKeyMenu('2_change@1', API_KEY_IN_USE),
    ],
  },
  'hostedPostgres.operations.refresh': {
    icon: 'refresh',
    palette: OPERATIONS_DOCUMENT,
    menus: [operationsToolbar('navigation')],
  },
  'hostedPostgres.operations.show': {
    menus: [computeMoreMenu('3_copy@3', COMPUTE), rowMenu('4_copy@3', PROJECT)],
  },
  'hostedPostgres.localService.setUpPostgres': {},
  'hostedPostgres.localService.start': {
    needsAccount: false,
    palette: isUnset('localServiceRuns'),
    menus: [computesToolbar('2_local@1', isUnset('localServiceRuns'))],
  },
  'hostedPostgres.localService.stop': {
    needsAccount: false,
    menus: [computesToolbar('2_local@2', isSet('localServiceRuns'))],
  },
  'hostedPostgres.details.show': {
    menus: [
      computeMoreMenu('3_copy@2', COMPUTE),
      branchMoreMenu('3_copy@2', BRANCH),
      apiKeyMenu('1_details@1', API_KEY),
      rowMenu('4_copy@2', PROJECT),
    ],
  },
  'hostedPostgres.details.showJson': {
    icon: 'json',
    palette: DETAILS_PAGE,
    menus: [editorToolbar('navigation', DETAILS_PAGE)],
  },
  'hostedPostgres.log.show': { needsAccount: false, menus: [computesToolbar('3_log@1')] },
  'hostedPostgres.workBranch.create': {
    icon: 'git-branch',
    palette: allOf(IN_FOLDER, HAS_BRANCHES),
    menus: [gitMenu('5_hostedPostgres@1'), computesToolbar('0_work@1', HAS_LOADED, IN_FOLDER, HAS_BRANCHES)],
  },
  'hostedPostgres.workBranch.show': { palette: IN_FOLDER },
  'hostedPostgres.workBranch.choose': { palette: allOf(IN_FOLDER, HAS_BRANCHES) },
  'hostedPostgres.workBranch.follow': { palette: allOf(IN_FOLDER, HAS_BRANCHES, isUnset('followsGit')) },
  'hostedPostgres.workBranch.stopFollowing': { palette: allOf(IN_FOLDER, isSet('followsGit')) },
  'hostedPostgres.workBranch.tidyUp': {
    palette: allOf(IN_FOLDER, HAS_BRANCHES),
    menus: [gitMenu('5_hostedPostgres@2')],
  },
  'hostedPostgres.agents.show': { needsAccount: false, menus: [computesToolbar('0_work@2')] },
  'hostedPostgres.agents.copyConfiguration': { needsAccount: false },
  'hostedPostgres.agents.copyInstructions': { needsAccount: false },
  'hostedPostgres.agents.deleteBranches': { palette: HAS_BRANCHES },
} satisfies Readonly<Record<`hostedPostgres.${string}`, CommandRow>>;

export type CommandId = keyof typeof COMMAND_TABLE;
