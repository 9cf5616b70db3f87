/**
 * Pooled connections of a compute: a separate PgBouncer behind the compute's second address, in transaction mode. Its server
 * connections use the compute's first address, so a pooled client wakes the compute like any other. Idle server connections
 * are closed soon, because they are activity.
 *
 * It listens on TCP only. On a Unix socket PgBouncer offers no TLS, and lets its own account, which the gateway has too, log
 * in to its console without a password.
 */
import path from 'node:path';
import { POOLED_CONNECTIONS } from '../../../api/rules/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { MAINTENANCE_DATABASE, SUPERUSER } from '../../core/systemNames.ts';
import { makePrivateFolder, writePrivateFile } from '../storage/privateFiles.ts';
import { POOLER_CONFIG_FILE, POOLER_PID_FILE } from '../server/orphans.ts';
import { ServerProcess } from '../server/serverProcess.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { maxConnectionsOf } from '../server/settings.ts';
import { POOLER_STOP_STEPS } from '../../../localService/endLimits.ts';
import type { Certificate } from '../server/certificate.ts';
import { chooseFreePort, LOOPBACK } from '../server/serverAddress.ts';

/** For how many seconds an unused server connection is kept. */
const SERVER_IDLE = 5;

/** A running PgBouncer. */
export class Pooler extends ServerProcess {
  /** Writes the configuration file for a size of the compute. */
  #configure: (compute: ComputeSpec) => void = () => undefined;

  /** Starts the pooler of a compute; resolves when it listens. @throws {EngineError} with PgBouncer's reason */
  static async start(
    deps: ServerDependencies,
    program: string,
    compute: ComputeSpec,
    log: (line: string) => void,
  ): Promise<Pooler> {
    const folder = deps.storage.pooler(compute.id);
    const file = path.join(folder, POOLER_CONFIG_FILE);
    makePrivateFolder(folder);
    writePrivateFile(path.join(folder, 'users.txt'), `"${SUPERUSER}" "${deps.logins.superuser}"\n`);
    const port = await chooseFreePort(new Set(deps.storage.loopbackPorts.values()));
    const configure = (changed: ComputeSpec) =>
      writePrivateFile(file, poolerConfiguration(folder, port, changed, deps.certificate));
    configure(compute);
    const pooler = new Pooler({
      program,
      args: [file],
      address: { host: LOOPBACK, port },
      onLine(line) {
        // Normal events are at level LOG.
        if (PROBLEM.test(line)) log(`PgBouncer: ${line}`);
      },
      readyLine: /process up/,
      stopSteps: POOLER_STOP_STEPS,
    });
    pooler.#configure = configure;
    if ((await Promise.race([pooler.ready, pooler.ended])) === true) return pooler;
    const problems = pooler.lastLines.filter((line) => PROBLEM.test(line));
    const reasons = problems.map((line) => line.replace(PROBLEM, '')).join('; ');
    throw new EngineError(`PgBouncer did not start: ${reasons || 'it gave no reason'}`);
  }

  /** Applies another size of the compute. Clients stay connected. */
  resize(compute: ComputeSpec): void {
    this.#configure(compute);
    this.reload();
  }
}

/** Matches a line of PgBouncer's log up to the message. */
const PROBLEM = /^.* (WARNING|ERROR|FATAL) /;

function poolerConfiguration(
  folder: string,
  port: number,
  compute: ComputeSpec,
  certificate: Certificate,
): string {
  // PgBouncer reads the passwords from Postgres, so roles that were created or changed in SQL work too. It opens the server
  // connection with the client's own SCRAM keys, so no role's password is in a file.
  // The query runs as superuser. Each name and operator is qualified, so that it never runs an operator of a user.
  const lookUp =
    'SELECT rolname, rolpassword FROM pg_catalog.pg_authid ' +
    'WHERE rolname OPERATOR(pg_catalog.=) $1 AND rolcanlogin';
  const settings: Record<string, string | number> = {
    listen_addr: LOOPBACK,
    listen_port: port,
    listen_backlog: 4096,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: path.join(folder, 'users.txt'),
    auth_query: lookUp,
    // The query runs in the maintenance database, because in others, owners can change settings such as `role`.
    auth_dbname: MAINTENANCE_DATABASE,
    pool_mode: 'transaction',
    max_prepared_statements: 200,
    max_client_conn: POOLED_CONNECTIONS,
    // The other connections are for clients that connect directly.
    default_pool_size: Math.floor(maxConnectionsOf(compute) * 0.9),
    server_idle_timeout: SERVER_IDLE,
    server_login_retry: 1,
    server_tls_sslmode: 'disable',
    client_tls_sslmode: 'allow',
    client_tls_cert_file: certificate.certFile,
    client_tls_key_file: certificate.keyFile,
    ignore_startup_parameters: 'extra_float_digits',
    log_connections: 0,
    log_disconnections: 0,
    pidfile: path.join(folder, POOLER_PID_FILE),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const server = `host=${LOOPBACK} port=${compute.address.port} auth_user=${SUPERUSER}`;
  return `[databases]\n* = ${server}\n\n[pgbouncer]\n${lines.join('\n')}\n`;
}
