/** The menus of VS Code in which commands are offered. */
import {
  all,
  HAS_BRANCHES,
  IN_API_KEYS,
  IN_COMPUTES,
  IN_FOLDER,
  OPERATIONS_DOCUMENT,
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
    | 'git.branch';
  /** The group of the menu, and the place in it. */
  readonly group: string;
  readonly when: string;
}

const entryOf =
  (menu: MenuEntry['menu'], ...common: readonly string[]) =>
  (group: string, ...when: readonly string[]): MenuEntry => ({ menu, group, when: all(...common, ...when) });

export const computesTitle = entryOf('view/title', IN_COMPUTES);
export const apiKeysTitle = entryOf('view/title', IN_API_KEYS, SIGNED_IN);
export const computesRow = entryOf('view/item/context', IN_COMPUTES);
export const apiKeysRow = entryOf('view/item/context', IN_API_KEYS);
export const editorTitle = entryOf('editor/title');
export const operationsTitle = entryOf('editor/title', OPERATIONS_DOCUMENT);
export const sqlContext = entryOf('editor/context', SQL_DOCUMENT, SIGNED_IN, HAS_BRANCHES);
/** Of a SQL file that can be run. */
const RUNS_FILES = [SQL_FILE, SIGNED_IN, TRUSTED, HAS_BRANCHES];
export const gitBranch = entryOf('git.branch', 'scmProvider == git', SIGNED_IN, IN_FOLDER, HAS_BRANCHES);
export const fileTitle = entryOf('editor/title', ...RUNS_FILES);
export const fileContext = entryOf('editor/context', ...RUNS_FILES);
export const explorerContext = entryOf('explorer/context', ...RUNS_FILES);
