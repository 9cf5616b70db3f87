/**
 * All commands, with where and when VS Code offers them. `npm run manifest` writes it to package.json. Their handlers are in
 * `commandHandlers.ts`, their titles in package.nls.json as `command.ID`. Nothing loads this at run time.
 */
import { BRANCH_COMMANDS } from './branchCommands.ts';
import {
  apiKeysRow,
  apiKeysTitle,
  branchDataMenu,
  branchMore,
  computeMore,
  computesRow,
  computesTitle,
  editorTitle,
  explorerFileMenu,
  explorerFolderMenu,
  sqlFileMenu,
  sqlFileTitle,
  gitMenu,
  operationsEditorTitle,
  type CommandRow,
} from './menus.ts';
import {
  SUSPENDABLE_COMPUTE,
  allOf,
  API_KEY,
  API_KEY_IN_USE,
  BRANCH,
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
  PROJECT_BRANCH_OR_SNAPSHOT,
  RUNNING_COMPUTE,
  SIGNED_IN,
  SNAPSHOT,
  TRUSTED,
} from './when.ts';

export const COMMAND_TABLE = {
  'hostedPostgres.account.connect': {
    icon: 'plug',
    needsAccount: false,
    menus: [computesTitle('navigation@1', LOADING_FAILED)],
  },
  'hostedPostgres.account.switch': { needsAccount: false, menus: [computesTitle('1_account@1')] },
  'hostedPostgres.account.disconnect': { menus: [computesTitle('1_account@2', SIGNED_IN)] },
  'hostedPostgres.account.remove': { needsAccount: false },
  'hostedPostgres.account.organization': {},
  'hostedPostgres.account.mark': { menus: [computesTitle('1_account@3', SIGNED_IN)] },
  'hostedPostgres.project.mark': { menus: [computesRow('3_change@2', PROJECT)] },
  'hostedPostgres.view.refresh': {
    icon: 'refresh',
    menus: [
      computesTitle('navigation@4', SIGNED_IN),
      apiKeysTitle('navigation@2'),
      computesRow('3_change@3', PROJECT),
      computesRow('inline@1', LAZY_ROW),
      computesRow('3_change@3', LAZY_ROW),
    ],
  },
  'hostedPostgres.view.showMore': { palette: false },
  'hostedPostgres.view.showNamesFirst': {
    palette: isUnset('namesFirst'),
    menus: [computesTitle('0_order@1', inState('ready'), isUnset('namesFirst'))],
  },
  'hostedPostgres.view.showIdsFirst': {
    palette: isSet('namesFirst'),
    menus: [computesTitle('0_order@1', inState('ready'), isSet('namesFirst'))],
  },
  'hostedPostgres.view.copyId': {
    menus: [
      computeMore('3_copy@1', COMPUTE),
      branchMore('3_copy@1', BRANCH),
      computesRow('4_copy@1', PROJECT),
      computesRow('4_copy@1', SNAPSHOT),
    ],
  },
  'hostedPostgres.view.copyName': { palette: false, menus: [computesRow('1_copy@1', DATABASE_OBJECT)] },
  'hostedPostgres.view.create': { icon: 'add', menus: [computesTitle('navigation@2', inState('ready'))] },
  'hostedPostgres.view.openConsole': {
    palette: isSet('hasConsole'),
    menus: [
      computeMore('5_console@1', COMPUTE, isSet('hasConsole')),
      branchMore('5_console@1', BRANCH, isSet('hasConsole')),
      computesRow('4_copy@2', PROJECT, isSet('hasConsole')),
    ],
  },
  'hostedPostgres.compute.find': { icon: 'search', menus: [computesTitle('navigation@3', inState('ready'))] },
  'hostedPostgres.compute.create': {
    icon: 'add',
    menus: [computesRow('2_branch@2', PROJECT), branchMore('1_compute@1', BRANCH)],
  },
  'hostedPostgres.compute.edit': {
    icon: 'edit',
    menus: [computesRow('2_change@1', COMPUTE)],
  },
  'hostedPostgres.compute.restart': {
    icon: 'debug-restart',
    menus: [computesRow('inline@3', RUNNING_COMPUTE), computesRow('2_change@2', RUNNING_COMPUTE)],
  },
  'hostedPostgres.compute.start': {
    icon: 'play',
    palette: CAN_START,
    menus: [computesRow('inline@4', STARTABLE_COMPUTE), computesRow('2_change@3', STARTABLE_COMPUTE)],
  },
  'hostedPostgres.compute.suspend': {
    icon: 'debug-pause',
    palette: CAN_START,
    menus: [computesRow('inline@4', SUSPENDABLE_COMPUTE), computesRow('2_change@3', SUSPENDABLE_COMPUTE)],
  },
  'hostedPostgres.compute.showLog': {
    icon: 'output',
    menus: [computesRow('inline@0', LOCAL_COMPUTE, FAILED_COMPUTE), computeMore('3_copy@4', LOCAL_COMPUTE)],
  },
  'hostedPostgres.compute.delete': {
    icon: 'trash',
    menus: [computesRow('8_delete@1', COMPUTE)],
  },
  'hostedPostgres.compute.copyHost': {
    icon: 'copy',
    menus: [computesRow('inline@2', CONNECTABLE), computesRow('1_copy@3', CONNECTABLE)],
  },
  'hostedPostgres.compute.copyConnectionString': {
    menus: [computesRow('1_copy@1', CONNECTABLE), computesRow('1_copy@2', DATABASES)],
  },
  'hostedPostgres.compute.copyAs': { menus: [computeMore('1_copy@1', COMPUTE)] },
  'hostedPostgres.compute.insertPassword': { palette: false },
  'hostedPostgres.compute.insertHost': { palette: allOf('editorIsOpen', '!activeEditorIsReadonly') },
  'hostedPostgres.compute.openPsql': {
    icon: 'terminal',
    palette: TRUSTED,
    menus: [
      computesRow('inline@1', ENABLED_CONNECTABLE, TRUSTED),
      computesRow('0_open@1', ENABLED_CONNECTABLE, TRUSTED),
      computesRow('0_open@1', DATABASES, TRUSTED),
    ],
  },
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
        'hostedPostgres.compute.copyHost': COMPUTE,
        'hostedPostgres.view.copyId': PROJECT_BRANCH_OR_SNAPSHOT,
      },
    },
  },
  ...BRANCH_COMMANDS,
  'hostedPostgres.sql.run': {
    palette: allOf('resourceLangId == sql', TRUSTED, HAS_BRANCHES),
    menus: [
      sqlFileTitle('5_hostedPostgres@1'),
      sqlFileMenu('z_hostedPostgres@3'),
      explorerFileMenu('5_hostedPostgres@1'),
    ],
  },
  'hostedPostgres.migration.rehearse': {
    palette: allOf(TRUSTED, HAS_BRANCHES),
    menus: [
      sqlFileTitle('5_hostedPostgres@2'),
      sqlFileMenu('z_hostedPostgres@4'),
      explorerFileMenu('5_hostedPostgres@2'),
      explorerFolderMenu('5_hostedPostgres@2'),
      branchDataMenu('1_now@4', LISTED_BRANCH, TRUSTED),
    ],
  },
  'hostedPostgres.compute.openIn': { menus: [computesRow('0_open@2', ENABLED_COMPUTE)] },
  'hostedPostgres.connectionString.writeEnv': {
    palette: IN_FOLDER,
    menus: [computesRow('1_copy@2', CONNECTABLE, IN_FOLDER)],
  },
  'hostedPostgres.connection.addService': {
    palette: TRUSTED,
    menus: [computeMore('1_copy@2', COMPUTE, TRUSTED)],
  },
  'hostedPostgres.input.host': { palette: false },
  'hostedPostgres.input.url': { palette: false },
  'hostedPostgres.input.service': { palette: false },
  'hostedPostgres.apiKey.create': { icon: 'add', menus: [apiKeysTitle('navigation@1')] },
  'hostedPostgres.apiKey.revoke': {
    icon: 'trash',
    menus: [apiKeysRow('inline@2', API_KEY), apiKeysRow('3_delete@1', API_KEY)],
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
      apiKeysTitle('1_key@1'),
      apiKeysRow('inline@1', API_KEY_IN_USE),
      apiKeysRow('2_change@1', API_KEY_IN_USE),
    ],
  },
  'hostedPostgres.operations.refresh': {
    icon: 'refresh',
    palette: OPERATIONS_DOCUMENT,
    menus: [operationsEditorTitle('navigation')],
  },
  'hostedPostgres.operations.show': {
    menus: [computeMore('3_copy@3', COMPUTE), computesRow('4_copy@3', PROJECT)],
  },
  'hostedPostgres.localService.setUpPostgres': {},
  'hostedPostgres.localService.start': {
    needsAccount: false,
    palette: isUnset('localServiceRuns'),
    menus: [computesTitle('2_local@1', isUnset('localServiceRuns'))],
  },
  'hostedPostgres.localService.stop': {
    needsAccount: false,
    menus: [computesTitle('2_local@2', isSet('localServiceRuns'))],
  },
  'hostedPostgres.details.show': {
    menus: [
      computeMore('3_copy@2', COMPUTE),
      branchMore('3_copy@2', BRANCH),
      apiKeysRow('1_details@1', API_KEY),
      computesRow('4_copy@2', PROJECT),
    ],
  },
  'hostedPostgres.details.showJson': {
    icon: 'json',
    palette: DETAILS_PAGE,
    menus: [editorTitle('navigation', DETAILS_PAGE)],
  },
  'hostedPostgres.log.show': { needsAccount: false, menus: [computesTitle('3_log@1')] },
  'hostedPostgres.workBranch.create': {
    icon: 'git-branch',
    palette: allOf(IN_FOLDER, HAS_BRANCHES),
    menus: [gitMenu('5_hostedPostgres@1'), computesTitle('0_work@1', HAS_LOADED, IN_FOLDER, HAS_BRANCHES)],
  },
  'hostedPostgres.workBranch.show': { palette: IN_FOLDER },
  'hostedPostgres.workBranch.choose': { palette: allOf(IN_FOLDER, HAS_BRANCHES) },
  'hostedPostgres.workBranch.follow': { palette: allOf(IN_FOLDER, HAS_BRANCHES, isUnset('followsGit')) },
  'hostedPostgres.workBranch.stopFollowing': { palette: allOf(IN_FOLDER, isSet('followsGit')) },
  'hostedPostgres.workBranch.tidyUp': {
    palette: allOf(IN_FOLDER, HAS_BRANCHES),
    menus: [gitMenu('5_hostedPostgres@2')],
  },
  'hostedPostgres.agents.show': { needsAccount: false, menus: [computesTitle('0_work@2')] },
  'hostedPostgres.agents.copyConfiguration': { needsAccount: false },
  'hostedPostgres.agents.copyInstructions': { needsAccount: false },
  'hostedPostgres.agents.deleteBranches': { palette: HAS_BRANCHES },
} satisfies Readonly<Record<`hostedPostgres.${string}`, CommandRow>>;

export type CommandId = keyof typeof COMMAND_TABLE;
