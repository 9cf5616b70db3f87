/**
 * Replies what has changed in a branch since some moments. Only the local service has this call, which wakes no compute and
 * doesn't count as activity.
 */
import { findBranch } from '../controlPlane/records/branchRecord.ts';
import { parseMoment } from '../controlPlane/records/historyRetention.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import type { PastMoment } from '../core/branchHistory.ts';
import { badRequest } from '../core/serviceErrors.ts';
import { parseLsn } from '../core/lsn.ts';
import type { ProjectState } from '../state/accountState.ts';
import { queryParameter, requiredParameter } from './query.ts';
import type { ApiCall } from './readRequest.ts';
import { jsonReply, type JsonReply } from './response.ts';

const MAX_MOMENTS = 100;
/** The most tables that the reply has for a moment. */
const MAX_TABLES = 10;

/** The most transactions that the reply has for a table. */
const MAX_TRANSACTIONS = 2000;

/**
 * Returns the reply. The parameter `since` has times or positions (LSN), separated by commas. A moment before a restore is in the
 * history of another branch, whose id comes before it: `br-old@2026-01-31T12:00:00Z`. Moments of which nothing is known are missing
 * in the reply.
 * With `table` instead, such as `16384/16501/16510`, the reply has the last transactions that have changed rows of this table, as far
 * as they are known. The numbers are those of the database, of the table and of its file.
 * With `schema=true`, the reply has the moments before the last changes of the schema.
 * With `unchanged_since` and a position (LSN), the reply says whether the branch certainly has the data of this position, without
 * reading the log.
 * @throws {HttpError}
 */
export async function changesReply(
  plane: ControlPlane,
  call: ApiCall,
  project: ProjectState,
  id: string,
): Promise<JsonReply> {
  const branch = findBranch(project, id);
  if (queryParameter(call, 'schema') === 'true') return await showSchemaChanges(plane, branch.id);
  const unchangedSince = queryParameter(call, 'unchanged_since');
  if (unchangedSince !== undefined) return await unchangedReply(plane, branch.id, unchangedSince);
  const table = queryParameter(call, 'table');
  if (table !== undefined) return await transactionsReply(plane, branch.id, table);
  const given = requiredParameter(call, 'since').split(',');
  if (given.length > MAX_MOMENTS) throw badRequest(`since must have at most ${MAX_MOMENTS} moments.`);
  const moments = given.map((text) => parsePastMoment(text, branch.id, plane.clock.now()));
  const known = moments.filter(({ branchId }) => project.branches.has(branchId));
  const found = await (await plane.engine).changesSince(branch.id, known);
  const changes = known.flatMap(({ text }, index) => {
    const tables = found[index];
    if (tables === undefined) return [];
    return { since: text, tables: tables.slice(0, MAX_TABLES), tables_count: tables.length };
  });
  return jsonReply({ changes });
}

async function unchangedReply(plane: ControlPlane, branchId: string, lsn: string): Promise<JsonReply> {
  if (parseLsn(lsn) === undefined) throw badRequest('unchanged_since must be a position (LSN).');
  return jsonReply({ unchanged: await (await plane.engine).isUnchangedSince(branchId, lsn) });
}

async function transactionsReply(plane: ControlPlane, branchId: string, text: string): Promise<JsonReply> {
  const [, database, table, file] = /^(\d{1,10})\/(\d{1,10})\/(\d{1,10})$/.exec(text) ?? [];
  if (file === undefined) throw badRequest('table must be three numbers: of the database, table and file.');
  const numbers = { database: Number(database), table: Number(table), file: Number(file) };
  const found = await (await plane.engine).tableTransactions(branchId, numbers);
  return jsonReply({ transactions: found?.slice(-MAX_TRANSACTIONS) ?? [] });
}

async function showSchemaChanges(plane: ControlPlane, branchId: string): Promise<JsonReply> {
  const found = await (await plane.engine).schemaChanges(branchId);
  return jsonReply({ schema_changes: found.slice(-MAX_MOMENTS) });
}

/** @param text a position or time, after `branch@` if it is of another branch @throws {HttpError} */
function parsePastMoment(
  text: string,
  branchId: string,
  now: number,
): PastMoment & { readonly text: string } {
  const [, other = branchId, given = ''] = /^(?:([\w-]+)@)?(.*)$/.exec(text) ?? [];
  if (parseLsn(given) !== undefined) return { text, branchId: other, lsn: given };
  // This throws unless `given` is a time that isn't in the future.
  parseMoment({ since: given }, now);
  return { text, branchId: other, timestamp: given };
}
