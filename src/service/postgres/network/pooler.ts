/**
 * Pooled connections of a compute: a separate PgBouncer behind the compute's second address, in transaction mode. Its server
 * connections use the compute's first address, so a pooled client wakes the compute like any other. Idle server connections
 * are closed soon, because they are activity.
 *
 * It listens on TCP only. On a Unix socket PgBouncer offers no TLS, and lets its own account, which the gateway has too, log
 * in to its console without a password.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { POOLED_CONNECTIONS } from '../../../api/records/sizes.ts';
import { EngineError, SUPERUSER, type ComputeSpec } from '../../core/computeEngine.ts';
import { makePrivateFolder, writePrivateFile } from '../data/files.ts';
import { POOLER_FILE, POOLER_PID_FILE } from '../process/orphans.ts';
import { inBackground, serverEnvironment } from '../process/runProgram.ts';
import { followLog } from '../process/serverLog.ts';
import type { ServerDependencies } from '../data/branchData.ts';
import { maxConnectionsOf } from '../config/settings.ts';
import type { Certificate } from './certificate.ts';
import { freePorts, type ServerAddress } from './serverAddress.ts';

/** How long an unused server connection is kept. Seconds. */
const SERVER_IDLE = 5;
/** PgBouncer has nothing to lose, so it gets little time to stop. Milliseconds. */
const POOLER_STOP_LIMIT = 500;

export class Pooler {
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  readonly address: ServerAddress;
  readonly #child: ChildProcess;
  readonly #configure: (compute: ComputeSpec) => void;
  #stopping = false;

  private constructor(port: number, child: ChildProcess, configure: (compute: ComputeSpec) => void) {
    this.address = { folder: undefined, port };
    this.#child = child;
    this.#configure = configure;
    this.ended = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
  }

  /** Starts the pooler of a compute; resolves when it listens. @throws {EngineError} with PgBouncer's reason */
  static async start(
    deps: ServerDependencies,
    program: string,
    compute: ComputeSpec,
    log: (line: string) => void,
  ): Promise<Pooler> {
    const folder = deps.storage.pooler(compute.id);
    const file = path.join(folder, POOLER_FILE);
    makePrivateFolder(folder);
    writePrivateFile(path.join(folder, 'users.txt'), `"${SUPERUSER}" "${deps.logins.superuser}"\n`);
    const { port } = await freePorts(new Set(deps.storage.loopbackPorts.values()));
    const configure = (changed: ComputeSpec) =>
      writePrivateFile(file, configuration(folder, port, changed, deps.certificate));
    configure(compute);
    const child = spawn(program, [file], {
      cwd: path.parse(folder).root,
      ...inBackground(),
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pooler = new Pooler(port, child, configure);
    await listening(pooler, child, log);
    return pooler;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Applies another size of the compute. Clients stay connected. */
  reload(compute: ComputeSpec): void {
    this.#configure(compute);
    this.#child.kill('SIGHUP');
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), POOLER_STOP_LIMIT);
    await this.ended;
    clearTimeout(late);
  }
}

async function listening(pooler: Pooler, child: ChildProcess, log: (line: string) => void): Promise<void> {
  const { stderr } = child;
  if (stderr === null) throw new EngineError('PgBouncer has no standard error');
  const problems: string[] = [];
  const up = new Promise<true>((resolve) => {
    followLog(stderr, (line) => {
      if (line.includes('process up')) resolve(true);
      // Normal events are at level LOG.
      if (!/ (WARNING|ERROR|FATAL) /.test(line)) return;
      problems.push(line.replace(/^.* (WARNING|ERROR|FATAL) /, ''));
      log(`PgBouncer: ${line}`);
    });
  });
  if ((await Promise.race([up, pooler.ended])) === true) return;
  throw new EngineError(`PgBouncer did not start: ${problems.join('; ') || 'it gave no reason'}`);
}

function configuration(folder: string, port: number, compute: ComputeSpec, certificate: Certificate): string {
  // PgBouncer reads the passwords from Postgres, so roles that were created or changed in SQL work too. It opens the server
  // connection with the client's own SCRAM keys, so no role's password is in a file.
  // The query runs as superuser. Each name and operator is qualified, so that it never runs an operator of a user.
  const lookUp =
    'SELECT rolname, rolpassword FROM pg_catalog.pg_authid ' +
    'WHERE rolname OPERATOR(pg_catalog.=) $1 AND rolcanlogin';
  const settings: Record<string, string | number> = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    listen_backlog: 4096,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: path.join(folder, 'users.txt'),
    auth_query: lookUp,
    // The maintenance database, because owners of other databases can change settings there, such as `role`.
    auth_dbname: SUPERUSER,
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
  const server = `host=127.0.0.1 port=${compute.address.port} auth_user=${SUPERUSER}`;
  return `[databases]\n* = ${server}\n\n[pgbouncer]\n${lines.join('\n')}\n`;
}
