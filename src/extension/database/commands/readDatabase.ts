/** Reads what is in a database, for the rows of the Computes view. */
import { l10n } from 'vscode';
import type { BranchIds } from '../../account/refs.ts';
import type { Column, TableName } from '../../inventory/databaseNodes.ts';
import type { DatabaseObjects } from '../../inventory/databaseTreeRows.ts';
import type * as Catalog from '../rows/reading.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import { prepareDatabase, readWithProgress, type PreparingContext } from './prepareDatabase.ts';

type Load<T> = (catalog: typeof Catalog, login: BranchLogin, signal: AbortSignal) => Promise<T>;

/** Returns undefined if the user canceled. @throws {Error} with a message for the user */
async function readFromDatabase<T>(
  context: PreparingContext,
  branch: BranchIds,
  database: string,
  load: Load<T>,
): Promise<T | undefined> {
  const { accountId: account } = context.session.requireConnection();
  const title = l10n.t('Read Database');
  const prepared = await prepareDatabase(context, {
    title,
    branch: { account, ...branch },
    database,
    purpose: 'names',
  });
  if (prepared === undefined) return undefined;
  const catalog = await import('../rows/reading.ts');
  const progress = l10n.t('Reading {0}', database);
  return await readWithProgress(progress, catalog.READ_SECONDS, (signal) =>
    load(catalog, prepared.login, signal),
  );
}

/** Returns undefined if the user canceled. @throws {Error} with a message for the user */
export const readObjects = (
  context: PreparingContext,
  branch: BranchIds,
  database: string,
): Promise<DatabaseObjects | undefined> =>
  readFromDatabase(context, branch, database, (catalog, login, signal) => catalog.readObjects(login, signal));

/** Returns undefined if the user canceled. @throws {Error} with a message for the user */
export const readColumns = (
  context: PreparingContext,
  branch: BranchIds,
  database: string,
  table: TableName,
): Promise<readonly Column[] | undefined> =>
  readFromDatabase(context, branch, database, (catalog, login, signal) =>
    catalog.readColumns(login, table, signal),
  );
