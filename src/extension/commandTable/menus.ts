/** The menus in which commands are offered, and what a row of the command table says. */
import {
  allOf,
  BRANCH,
  COMPUTE,
  HAS_BRANCHES,
  IN_API_KEYS,
  IN_COMPUTES,
  IN_FOLDER,
  LISTED_BRANCH,
  OPERATIONS_DOCUMENT,
  ON_DISK,
  SIGNED_IN,
  SQL_DOCUMENT,
  SQL_FILE,
  TRUSTED,
} from './when.ts';

export interface MenuEntry {
  readonly menu:
    | 'view/title'
    | 'view/item/context'
    | 'editor/title'
    | 'editor/context'
    | 'explorer/context'
    | 'git.branch'
    | SubmenuId;
  /** The group of the menu, and the place in it. */
  readonly group: string;
  readonly when: string;
}

/** What a keybinding passes to its command. It names the view whose selected row is meant. */
export type SelectedRow = 'selectedInComputes' | 'selectedInApiKeys';

export interface CommandRow {
  /** A codicon. */
  readonly icon?: string;
  /** Whether the Command Palette hides the command while signed out; true by default. */
  readonly needsAccount?: false;
  /** Another condition for the Command Palette, if there is one. It is false if the command is never offered there. */
  readonly palette?: string | false;
  readonly menus?: readonly MenuEntry[];
  /** The keys of the command while a row of this view has the focus. */
  readonly keys?: {
    readonly key: string;
    readonly mac?: string;
    readonly row: SelectedRow;
    /** The commands of menus that do the same for one kind of row. VS Code shows the key next to them. */
    readonly shownAt?: Readonly<Record<`hostedPostgres.${string}`, string>>;
  };
}

/** Makes an entry of one menu, in this group, that is shown when all conditions are true. */
export type MakeMenuEntry = (group: string, ...when: readonly string[]) => MenuEntry;

const menuEntry =
  (menu: MenuEntry['menu'], ...common: readonly string[]): MakeMenuEntry =>
  (group, ...when) => ({ menu, group, when: allOf(...common, ...when) });

export const computesToolbar = menuEntry('view/title', IN_COMPUTES);
export const apiKeysToolbar = menuEntry('view/title', IN_API_KEYS, SIGNED_IN);
export const rowMenu = menuEntry('view/item/context', IN_COMPUTES);
/** The submenus keep the menu of a row short. */
export const branchDataMenu = menuEntry('hostedPostgres.branchData', IN_COMPUTES);
export const branchMoreMenu = menuEntry('hostedPostgres.branchMore', IN_COMPUTES);
export const computeMoreMenu = menuEntry('hostedPostgres.computeMore', IN_COMPUTES);
export const apiKeyMenu = menuEntry('view/item/context', IN_API_KEYS);
export const editorToolbar = menuEntry('editor/title');
export const operationsToolbar = menuEntry('editor/title', OPERATIONS_DOCUMENT);
export const sqlEditorMenu = menuEntry('editor/context', SQL_DOCUMENT, SIGNED_IN, HAS_BRANCHES);
/** The conditions for a SQL file that can be run. */
const RUNS_FILES = [SQL_FILE, SIGNED_IN, TRUSTED, HAS_BRANCHES];
export const gitMenu = menuEntry('git.branch', 'scmProvider == git', SIGNED_IN, IN_FOLDER, HAS_BRANCHES);
export const sqlFileToolbar = menuEntry('editor/title', ...RUNS_FILES);
export const sqlFileMenu = menuEntry('editor/context', ...RUNS_FILES);
export const explorerFileMenu = menuEntry('explorer/context', ...RUNS_FILES);
export const explorerFolderMenu = menuEntry(
  'explorer/context',
  'explorerResourceIsFolder',
  ON_DISK,
  SIGNED_IN,
  TRUSTED,
  HAS_BRANCHES,
);

type SubmenuId = 'hostedPostgres.branchData' | 'hostedPostgres.branchMore' | 'hostedPostgres.computeMore';

/** Where the submenus are. Their titles are in package.nls.json as `submenu.ID`. */
export const SUBMENUS: Readonly<Record<SubmenuId, MenuEntry>> = {
  'hostedPostgres.branchData': rowMenu('7_more@1', LISTED_BRANCH),
  'hostedPostgres.branchMore': rowMenu('7_more@2', BRANCH),
  'hostedPostgres.computeMore': rowMenu('7_more@2', COMPUTE),
};
