/**
 * Loads the databases of a branch, and the tables of each, when the user expands their rows. What was loaded is kept until the
 * user refreshes it: VS Code asks for rows again whenever something above them changes, and reading tables wakes a compute.
 */
import type { BranchIds } from '../account/refs.ts';
import type { Session } from '../account/session.ts';
import type { DatabaseHint, DatabaseParent, DatabaseTreeNode, TableName } from './databaseNodes.ts';

/** More rows would be hard to read. */
const MAX_TABLES = 300;

/** @returns undefined if the user canceled, for example because the compute would have to be woken */
export type LoadTables = (branch: BranchIds, database: string) => Promise<readonly TableName[] | undefined>;

export class DatabaseRows {
  readonly #session: Pick<Session, 'connection'>;
  readonly #loadTables: LoadTables;
  readonly #loaded = new Map<string, Promise<readonly DatabaseTreeNode[]>>();

  constructor(session: Pick<Session, 'connection'>, loadTables: LoadTables) {
    this.#session = session;
    this.#loadTables = loadTables;
  }

  /** Never rejects. @param id of the row, unique in the tree */
  async below(id: string, parent: DatabaseParent): Promise<readonly DatabaseTreeNode[]> {
    const loaded =
      this.#loaded.get(id) ?? this.#load(parent).catch((error: unknown) => [hint(parent, { error })]);
    this.#loaded.set(id, loaded);
    return await loaded;
  }

  /** The rows are loaded again when VS Code asks for them next. */
  forget(id: string): void {
    this.#loaded.delete(id);
  }

  clear(): void {
    this.#loaded.clear();
  }

  async #load(parent: DatabaseParent): Promise<readonly DatabaseTreeNode[]> {
    const branch = { projectId: parent.projectId, branchId: parent.branchId };
    if (parent.kind === 'database') {
      const { database } = parent;
      const tables = await this.#loadTables(branch, database);
      if (tables === undefined) return [hint(parent, 'notRead')];
      const shown = tables.slice(0, MAX_TABLES);
      const more = tables.length - shown.length;
      return [
        ...shown.map((table) => ({ kind: 'table', ...branch, database, ...table }) as const),
        ...(shown.length === 0 ? [hint(parent, 'empty')] : []),
        ...(more > 0 ? [hint(parent, { more })] : []),
      ];
    }
    const { connection } = this.#session;
    const client = await connection?.client();
    const options = { signal: connection?.signal };
    const databases = await client?.listDatabases(branch.projectId, branch.branchId, options);
    if (databases === undefined) return [hint(parent, 'notOffered')];
    if (databases.length === 0) return [hint(parent, 'empty')];
    return databases.map(({ name }) => ({ kind: 'database', ...branch, database: name }) as const);
  }
}

const hint = (parent: DatabaseParent, text: DatabaseHint['hint']): DatabaseHint => ({
  kind: 'databaseHint',
  projectId: parent.projectId,
  branchId: parent.branchId,
  parent,
  hint: text,
});
