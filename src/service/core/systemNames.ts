/** The names of Postgres's and the service's own roles and databases, which the API neither shows nor changes. */

/** The bootstrap superuser. Only the service logs in with it. */
export const SUPERUSER = 'postgres';
/** The database that each server has, for work that belongs to no other one. */
export const MAINTENANCE_DATABASE = 'postgres';
/**
 * The role for all replication: of read replicas, of clients, and of the standby of a rehearsal. It may only log in and
 * replicate.
 */
export const REPLICATOR = 'service_replicator';
/** The role that reads for the extension and for agents. Only they get its password. */
export const READER = 'service_reader';
/** The name of the standby for which the commits of a rehearsal wait. */
export const REHEARSAL_STANDBY = 'service_rehearsal';

export const isSystemDatabase = (name: string): boolean =>
  [MAINTENANCE_DATABASE, 'template0', 'template1'].includes(name);

/** Whether the name is that of a role of the service, or reserved: Postgres rejects `public`, `none`, and names that begin with `pg_`. */
export const isSystemRole = (name: string): boolean =>
  [SUPERUSER, REPLICATOR, READER, 'public', 'none'].includes(name) || name.startsWith('pg_');
