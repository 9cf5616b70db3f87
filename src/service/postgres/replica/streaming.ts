/** Finds out whether a standby receives the write-ahead log (WAL) of its primary. */
import type { Postmaster } from '../process/postmaster.ts';
import { connectAsSuperuser, type SuperuserTools } from '../network/superuser.ts';

/** A standby connects within half a second. Without progress for this time, it can't follow. Milliseconds. */
const LIMIT = 5_000;
const CHECK_INTERVAL = 250;

const STATE = `select state, sent_lsn from pg_catalog.pg_stat_replication
  where application_name operator(pg_catalog.=) $1`;

/** Waits until the standby streams. @returns false if it can't; true also when one of the servers ended before */
export async function canStream(
  primary: Postmaster,
  standby: { readonly server: Postmaster; readonly name: string },
  tools: SuperuserTools,
): Promise<boolean> {
  const isOver = () => primary.isStopping || standby.server.isStopping;
  const client = await connectAsSuperuser(tools, primary.address).catch(() => undefined);
  try {
    let sent: string | undefined;
    for (let until = performance.now() + LIMIT; client !== undefined && !isOver();) {
      const { rows } = await client.query<{ state: string; sent_lsn: string | null }>(STATE, [standby.name]);
      if (rows.some(({ state }) => state === 'streaming')) return true;
      if (performance.now() > until) return isOver();
      // Null until the standby has asked for its first position.
      const position = rows[0]?.sent_lsn ?? undefined;
      // It is catching up.
      if (position !== undefined && position !== sent) until = performance.now() + LIMIT;
      sent = position ?? sent;
      await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL));
    }
    return true;
  } catch {
    return true; // The primary ended. The next one is asked again.
  } finally {
    await client?.end().catch(() => undefined);
  }
}
