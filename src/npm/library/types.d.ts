/** The types of `hosted-postgres/test`, shipped with the package. */

/**
 * What fills a database. A `.sql` file runs as with `psql -f`. A folder of such files runs as with the tool that the folder is for, or
 * else in the order of the numbers in the names. A command or function runs again when one of `files` has changed: the files and folders
 * that it depends on. A command gets `DATABASE_URL`.
 */
export type Step =
  | string
  | {
      readonly run: string | ((url: string) => unknown);
      readonly files: readonly string[];
    };

export interface BranchOptions {
  /** Name or id of the branch in the folder's service to start from. By default, an empty database. */
  readonly from?: string;
  /** Runs once for each content of its files. */
  readonly migrate?: Step;
  /** Runs after `migrate`, and again whenever that does. */
  readonly seed?: Step;
  /** The folder with `.hosted-postgres`, `migrate` and `seed`. By default the working directory. */
  readonly cwd?: string;
}

export interface Clone {
  readonly url: string;
  /** Deletes the database and closes its connections. */
  drop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ResetResult {
  /** Why the database was created again, which has ended its connections. Undefined if it wasn't. */
  readonly createdAgain: string | undefined;
}

export interface TestDatabase extends Clone {
  /**
   * Takes the database back to the data that it began with, for tests that share it. Only tables that were written
   * are filled again. After DDL, and changes of its settings and rights, the database is created again, which ends its connections.
   * If there is another reason for that, such as a table that can't be filled again, a warning says so.
   * @throws {Error} if a transaction is open or a statement has begun to write, because its rows could appear later
   */
  reset(): Promise<ResetResult>;
  /** Creates a database with the data that this one began with, and the same settings and rights. */
  clone(): Promise<Clone>;
}

export interface TestBranch extends TestDatabase {
  readonly id: string;
}

/**
 * Creates a branch for this file and sets `DATABASE_URL`. `drop` deletes the branch, or else the end of the process does. If the
 * process was killed, or this worker thread was terminated, the next call in any process deletes the branch.
 * @throws {Error} if the service can't run Postgres, if `migrate` and `seed` leave an empty database empty, or with the error of
 * `migrate` or `seed`: for SQL with file and line
 */
export declare function branch(options?: BranchOptions): Promise<TestBranch>;

/**
 * Creates a database for this file and sets `DATABASE_URL`. All files with the same `migrate` and `seed` have their databases on one
 * branch, so they share its server, roles and connections. The database is dropped in the same ways as a branch.
 * @throws {Error} as `branch` does
 */
export declare function database(options?: BranchOptions): Promise<TestDatabase>;
