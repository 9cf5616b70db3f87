/**
 * Loads the databases of a branch, what is in each, and the columns of each table, when the user expands their rows. What was
 * loaded is kept until the user refreshes it: VS Code asks for rows again whenever something above them changes, and reading a
 * database wakes a compute.
 */
import type { BranchIds } from '../account/refs.ts';
import type { Session } from '../account/session.ts';
import type {
  Column,
  DatabaseHintNode,
  DatabaseParentNode,
  DatabaseTreeNode,
  FunctionName,
  TableName,
} from './databaseNodes.ts';

/** The most rows that a parent shows. More would be hard to read. */
const MAX_ROWS = 300;

/**
 * Reads what a database has. Both methods return undefined if the user canceled, for example because a compute would have to
 * start.
 */
export interface DatabaseReader {
  objects(branch: BranchIds, database: string): Promise<DatabaseObjects | undefined>;
  columns(branch: BranchIds, database: string, table: TableName): Promise<readonly Column[] | undefined>;
}

export interface DatabaseObjects {
  readonly tables: readonly TableName[];
  readonly functions: readonly FunctionName[];
}

/** The rows of the tree below “Databases” of each branch, read once and kept. */
export class DatabaseTreeRows {
  readonly #session: Pick<Session, 'connection'>;
  readonly #reader: DatabaseReader;
  readonly #loaded = new Map<string, Promise<readonly DatabaseTreeNode[]>>();

  constructor(session: Pick<Session, 'connection'>, reader: DatabaseReader) {
    this.#session = session;
    this.#reader = reader;
  }

  /** Returns the rows below a row, which are loaded the first time. Never rejects. @param id the id of the upper row in the tree */
  async loadRows(id: string, parent: DatabaseParentNode): Promise<readonly DatabaseTreeNode[]> {
    const loaded =
      this.#loaded.get(id) ?? this.#load(parent).catch((error: unknown) => [hintRow(parent, { error })]);
    this.#loaded.set(id, loaded);
    return await loaded;
  }

  /** Drops the rows below a row. They are loaded again when VS Code asks for them next. */
  forget(id: string): void {
    this.#loaded.delete(id);
  }

  clear(): void {
    this.#loaded.clear();
  }

  async #load(parent: DatabaseParentNode): Promise<readonly DatabaseTreeNode[]> {
    const branch = { projectId: parent.projectId, branchId: parent.branchId };
    if (parent.kind === 'database') {
      const { database } = parent;
      const found = await this.#reader.objects(branch, database);
      return rowsOrHint(
        parent,
        found && [
          ...found.tables.map((table) => ({ kind: 'table', ...branch, database, ...table }) as const),
          ...found.functions.map((each) => ({ kind: 'function', ...branch, database, ...each }) as const),
        ],
      );
    }
    if (parent.kind === 'table') {
      const { database, schema, name, isView } = parent;
      const columns = await this.#reader.columns(branch, database, { schema, name, isView });
      const table = { schema, name };
      return rowsOrHint(
        parent,
        columns?.map((column) => ({ kind: 'column', ...branch, database, table, ...column }) as const),
      );
    }
    const { connection } = this.#session;
    const client = await connection?.client();
    const options = { signal: connection?.signal };
    const databases = await client?.listDatabases(branch.projectId, branch.branchId, options);
    if (databases === undefined) return [hintRow(parent, 'notOffered')];
    return rowsOrHint(
      parent,
      databases.map(({ name }) => ({ kind: 'database', ...branch, database: name }) as const),
    );
  }
}

/** @param rows undefined if the user canceled */
function rowsOrHint(
  parent: DatabaseParentNode,
  rows: readonly DatabaseTreeNode[] | undefined,
): readonly DatabaseTreeNode[] {
  if (rows === undefined) return [hintRow(parent, 'notRead')];
  if (rows.length === 0) return [hintRow(parent, 'empty')];
  const more = rows.length - MAX_ROWS;
  return more > 0 ? [...rows.slice(0, MAX_ROWS), hintRow(parent, { more })] : rows;
}

const hintRow = (parent: DatabaseParentNode, text: DatabaseHintNode['hint']): DatabaseHintNode => ({
  kind: 'databaseHint',
  projectId: parent.projectId,
  branchId: parent.branchId,
  parent,
  hint: text,
});
