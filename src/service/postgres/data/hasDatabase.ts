/** Checks whether a branch has a database, without waking any of its computes. */
import { existsSync } from 'node:fs';
import { asEngineError } from '../../core/computeEngine.ts';
import { BRANCH_DATABASE } from './logins.ts';
import type { Postmaster } from '../process/postmaster.ts';
import type { ServerTools } from '../data/branchData.ts';
import { connectAsSuperuser } from '../network/superuser.ts';
import { runSingleUser } from './template.ts';

/** Longest name in Postgres (`NAMEDATALEN`). */
const MAX_NAME_BYTES = 63;

export async function hasDatabase(tools: ServerTools, branchId: string, database: string): Promise<boolean> {
  if (database === BRANCH_DATABASE) return true;
  // oxlint-disable-next-line no-control-regex
  if (database === '' || Buffer.byteLength(database) > MAX_NAME_BYTES || /[\u0000-\u001f]/.test(database))
    return false;
  const sql =
    "select 'found' from pg_catalog.pg_database " +
    `where datallowconn and datname operator(pg_catalog.=) ${literal(database)}`;
  return tools.branches.inTurn(branchId, async () => {
    const server = tools.branches.primary(branchId);
    if (server) return hasRows(server, tools.logins.superuser, sql);
    const dataDir = tools.branches.folder(branchId);
    return existsSync(dataDir) && (await runSingleUser(tools, dataDir, [sql])).includes('"found"');
  });
}

async function hasRows(server: Postmaster, password: string, sql: string): Promise<boolean> {
  const client = await connectAsSuperuser(server.address, password);
  try {
    return (await client.query(sql)).rows.length > 0;
  } catch (error) {
    throw asEngineError(error);
  } finally {
    await client.end();
  }
}

/** An SQL literal that does not depend on `standard_conforming_strings`. */
const literal = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
