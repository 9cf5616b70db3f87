/**
 * Drops the subscriptions that a copy has from its original. With them, the copy would take over the original's slots on the other
 * server, and the original would miss rows. So they are dropped before a primary runs on the copy, as on the public service.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { keptWalSettings } from '../history/history.ts';
import { withInternalServer } from '../server/launchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { withSuperuser } from '../server/superuser.ts';

/** The file of the catalog of subscriptions, which is empty until there is one. */
const CATALOG_FILE = path.join('global', '6100');

/**
 * Whether a branch may have subscriptions. In a copy that isn't recovered, they may be in the log only. So this checks the file of the
 * original, or of the recovered copy, which Postgres lengthens before the first subscription commits.
 */
function mayHaveSubscriptions(dataDir: string): boolean {
  return statSync(path.join(dataDir, CATALOG_FILE), { throwIfNoEntry: false })?.size !== 0;
}

/** @param folder the folder of a copy of the branch, which no client uses yet @throws {EngineError} */
export async function dropSubscriptionsOfCopy(
  deps: ServerDependencies,
  branchId: string,
  folder: string,
): Promise<void> {
  if (!mayHaveSubscriptions(deps.branches.folder(branchId))) return;
  const start = {
    id: branchId,
    dataDir: path.join(folder, 'data'),
    name: path.basename(folder),
    settings: { ...deps.branches.standbySettings(branchId), ...keptWalSettings(folder) },
  };
  await withInternalServer(deps, start, async (server) => dropSubscriptions(deps, server, start.dataDir));
}

const SUBSCRIPTIONS = `select subname as name, datname as database from pg_catalog.pg_subscription
  join pg_catalog.pg_database d on d.oid operator(pg_catalog.=) subdbid where datallowconn`;

/**
 * Drops the subscriptions of a copy without connecting to the other server, whose slots belong to the original.
 * @param dataDir that of the copy, which the server has recovered
 * @throws {EngineError} or an error of Postgres
 */
export async function dropSubscriptions(
  deps: ServerDependencies,
  { address }: Pick<Postmaster, 'address'>,
  dataDir: string,
): Promise<void> {
  if (!mayHaveSubscriptions(dataDir)) return;
  const { rows } = await withSuperuser(deps, address, async (client) =>
    client.query<{ readonly name: string; readonly database: string }>(SUBSCRIPTIONS),
  );
  for (const { name, database } of rows)
    await withSuperuser(
      deps,
      address,
      async (client) => {
        const subscription = `subscription ${client.escapeIdentifier(name)}`;
        await client.query(`alter ${subscription} disable`);
        await client.query(`alter ${subscription} set (slot_name = none)`);
        // The subscription would still drop the slots of tables whose first copy isn't complete.
        await client.query(`alter ${subscription} connection 'host=/nowhere password=none'`);
        await client.query(`drop ${subscription}`);
      },
      database,
    );
}
