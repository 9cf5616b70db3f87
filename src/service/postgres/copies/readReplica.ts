/** Starts and stops the server of a read replica, which follows its branch's primary. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { REPLICATOR } from '../../core/systemNames.ts';
import { maximumSettings, standbySettingsOfCompute, type StandbySettings } from '../server/settings.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { writePrivateFile } from '../storage/privateFiles.ts';
import { allocateServerAddress, libpqConnectionString } from '../server/serverAddress.ts';
import { connectAsSuperuser } from '../server/superuser.ts';
import { launchServer } from '../server/launchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { isCopyUsable, startOnNewCopy } from './replicaCopies.ts';

type OnLine = (line: string) => void;

/**
 * Returns how a read replica starts and stops: a hot standby on its own copy of the branch. It streams from the socket of the
 * primary's server, not through the compute's address, so it neither wakes the primary nor counts as activity. While the primary is
 * suspended, the replica retries and continues to serve reads. If its copy can't be used, the branch is copied again.
 * @param restart asks for a stop and a start of this replica
 */
export function readReplicaLifecycle(deps: ServerDependencies, restart: (reason: string) => void) {
  const { branches } = deps;
  let mustCopy = false;

  /** Restarts the replica on a new copy if it cannot follow its primary. */
  async function copyAgainUnlessStreaming(compute: ComputeSpec, server: Postmaster, primary: Postmaster) {
    if (await canStream(deps, primary, { server, name: compute.id })) return;
    mustCopy = true;
    restart('it cannot follow its primary, so the branch is copied again');
  }

  /** Lets the replica connect to a primary that starts later, or restarts the replica if it must. */
  function restartWithPrimary(compute: ComputeSpec, server: Postmaster, settings: StandbySettings): void {
    const subscription = branches.onPrimaryStart((branchId) => {
      const primary = branches.primary(branchId);
      if (branchId !== compute.branchId || server.isStopping || !primary) return;
      const required = maximumSettings(settings, branches.standbySettings(branchId));
      if (!isDeepStrictEqual(settings, required)) return restart('its primary now has higher settings');
      // The reload makes the replica connect at once instead of after a pause.
      server.reload();
      void copyAgainUnlessStreaming(compute, server, primary);
    });
    void server.ended.then(() => subscription.dispose());
  }

  async function start(compute: ComputeSpec, onLine: OnLine): Promise<Postmaster> {
    await branches.ensureDataDir(compute.branchId);
    const settings = maximumSettings(
      standbySettingsOfCompute(compute),
      branches.standbySettings(compute.branchId),
    );
    const launch = async () => launchReplica(deps, compute, settings, onLine);
    const existing =
      mustCopy || !isCopyUsable(deps, compute)
        ? undefined
        : await launch().catch((error: unknown) =>
            onLine(`Copying ${compute.branchId} again: ${String(error)}`),
          );
    const server = existing ?? (await startOnNewCopy(deps, compute, launch));
    mustCopy = false;
    restartWithPrimary(compute, server, settings);
    // A new copy isn't checked: if it doesn't stream, copying again wouldn't help.
    const primary = branches.primary(compute.branchId);
    if (existing && primary) void copyAgainUnlessStreaming(compute, existing, primary);
    return server;
  }

  return {
    async start(compute: ComputeSpec, onLine: OnLine): Promise<Postmaster> {
      const lock = branches.lock(compute.branchId);
      return lock.shared(async () => lock.replicas(async () => start(compute, onLine)));
    },
    stop: async (_compute: ComputeSpec, server: Postmaster) => server.stop(),
  };
}

async function launchReplica(
  deps: ServerDependencies,
  compute: ComputeSpec,
  settings: StandbySettings,
  onLine: OnLine,
): Promise<Postmaster> {
  const { storage, logins } = deps;
  const primary = await allocateServerAddress(storage, compute.branchId);
  const passfile = path.join(storage.root, 'replicator.pgpass');
  writePrivateFile(passfile, `*:*:*:${REPLICATOR}:${logins.replicator}\n`);
  return launchServer(deps, {
    compute,
    dataDir: path.join(storage.replica(compute.id), 'data'),
    name: compute.id,
    onLine,
    inFile: {
      primary_conninfo: libpqConnectionString({ ...primary, user: REPLICATOR, passfile }),
      // After the primary has started again, the replica gets new rows with at most this delay.
      wal_retrieve_retry_interval: '500ms',
    },
    settings,
  });
}

/** The milliseconds without progress after which a standby can't follow its primary. It connects within half a second. */
const LIMIT = 5_000;
const CHECK_INTERVAL = 250;

const STATE = `select state, sent_lsn from pg_catalog.pg_stat_replication
  where application_name operator(pg_catalog.=) $1`;

/** Waits until the standby streams the write-ahead log (WAL). @returns false if it can't; true also if one of the servers ended first */
async function canStream(
  deps: ServerDependencies,
  primary: Postmaster,
  standby: { readonly server: Postmaster; readonly name: string },
): Promise<boolean> {
  const isOver = () => primary.isOver || standby.server.isOver;
  const client = await connectAsSuperuser(deps, primary.address).catch(() => undefined);
  try {
    let previousLsn: string | undefined;
    for (let until = performance.now() + LIMIT; client !== undefined && !isOver();) {
      const { rows } = await client.query<{ state: string; sent_lsn: string | null }>(STATE, [standby.name]);
      if (rows.some(({ state }) => state === 'streaming')) return true;
      if (performance.now() > until) return isOver();
      // The position is null until the standby has asked for WAL.
      const sentLsn = rows[0]?.sent_lsn ?? undefined;
      // If the position moves, the standby is catching up.
      if (sentLsn !== undefined && sentLsn !== previousLsn) until = performance.now() + LIMIT;
      previousLsn = sentLsn ?? previousLsn;
      await sleep(CHECK_INTERVAL);
    }
    return true;
  } catch {
    return true; // The primary ended. The check is repeated on its next start.
  } finally {
    await client?.end().catch(() => undefined);
  }
}
