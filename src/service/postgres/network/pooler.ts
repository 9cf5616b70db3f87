/**
 * Pooled connections of a compute: a PgBouncer of its own on the compute's second address, in transaction mode. Its server
 * side connects to the compute's first address, so a pooled client wakes the compute like any other, and the sockets of
 * 10,000 clients are PgBouncer's, not ours. A server connection left idle is closed soon, for it counts as activity.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { POOLED_CONNECTIONS } from '../../../api/records/sizes.ts';
import { EngineError, type ComputeSpec } from '../../core/computeEngine.ts';
import { makePrivateFolder, writePrivateFile } from '../data/privateFiles.ts';
import { SUPERUSER } from '../data/logins.ts';
import { POOLER_FILE, POOLER_PID_FILE } from '../process/orphans.ts';
import { serverEnvironment } from '../process/runProgram.ts';
import { ServerLog } from '../process/serverLog.ts';
import type { ServerTools } from '../data/branchData.ts';
import { connectionsOf } from '../config/settings.ts';

/** How long an unused server connection is kept. Seconds. */
const SERVER_IDLE = 5;
/** PgBouncer holds nothing that could be lost, so it is given little time to take its leave. Milliseconds. */
const STOP_LIMIT = 500;

export class Pooler {
  /** Resolves once the process is gone, whatever the reason. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #stopping = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
  }

  /** Starts the pooler of a compute; resolves when it listens. @throws {EngineError} with PgBouncer's own reason */
  static async start(
    tools: ServerTools,
    program: string,
    compute: ComputeSpec,
    log: (line: string) => void,
  ): Promise<Pooler> {
    const folder = tools.storage.pooler(compute.id);
    const file = path.join(folder, POOLER_FILE);
    makePrivateFolder(folder);
    writePrivateFile(path.join(folder, 'users.txt'), `"${SUPERUSER}" "${tools.logins.superuser}"\n`);
    writePrivateFile(file, configuration(folder, compute));
    const child = spawn(program, [file], {
      cwd: path.parse(folder).root,
      detached: true,
      windowsHide: true,
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pooler = new Pooler(child);
    await listening(pooler, child, log);
    return pooler;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT);
    await this.ended;
    clearTimeout(late);
  }
}

async function listening(pooler: Pooler, child: ChildProcess, log: (line: string) => void): Promise<void> {
  const { stderr } = child;
  if (stderr === null) throw new EngineError('PgBouncer has no standard error');
  const said: string[] = [];
  const up = new Promise<true>((resolve) => {
    new ServerLog(stderr, (line) => {
      if (line.includes('process up')) resolve(true);
      // Everyday events are at level LOG; what went wrong is above it.
      if (!/ (WARNING|ERROR|FATAL) /.test(line)) return;
      said.push(line.replace(/^.* (WARNING|ERROR|FATAL) /, ''));
      log(`PgBouncer: ${line}`);
    });
  });
  if ((await Promise.race([up, pooler.ended])) === true) return;
  throw new EngineError(`PgBouncer did not start: ${said.join('; ') || 'it gave no reason'}`);
}

function configuration(folder: string, compute: ComputeSpec): string {
  // A role's password is looked up where it is kept, so one that was made or changed in SQL counts here too. What the
  // client proves it with opens the server connection as well: no role's password is written down.
  // It runs as superuser in the client's database, whose owner chooses the search_path: Every name and operator in it
  // is qualified, so that it never runs an operator that the owner created.
  const lookUp =
    'SELECT rolname, rolpassword FROM pg_catalog.pg_authid ' +
    'WHERE rolname OPERATOR(pg_catalog.=) $1 AND rolcanlogin';
  const settings: Record<string, string | number> = {
    listen_addr: '127.0.0.1',
    listen_port: compute.address.poolerPort,
    listen_backlog: 4096,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: path.join(folder, 'users.txt'),
    auth_query: lookUp,
    pool_mode: 'transaction',
    max_client_conn: POOLED_CONNECTIONS,
    // The rest of the compute's connections stay for those who connect directly.
    default_pool_size: Math.floor(connectionsOf(compute) * 0.9),
    server_idle_timeout: SERVER_IDLE,
    server_login_retry: 1,
    server_tls_sslmode: 'disable',
    ignore_startup_parameters: 'extra_float_digits',
    log_connections: 0,
    log_disconnections: 0,
    pidfile: path.join(folder, POOLER_PID_FILE),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const server = `host=127.0.0.1 port=${compute.address.port} auth_user=${SUPERUSER}`;
  return `[databases]\n* = ${server}\n\n[pgbouncer]\n${lines.join('\n')}\n`;
}
