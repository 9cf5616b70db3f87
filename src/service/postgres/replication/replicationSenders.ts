/** What sends changes to the clients of a compute: who may have it, and how many there are. */
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import { createPgClient } from '../../../base/sql/pgClient.ts';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { REHEARSAL_STANDBY, REPLICATOR } from '../../core/systemNames.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { ClientRefusal } from '../network/refusal.ts';
import type { ReplicationRequest } from '../network/startupPacket.ts';
import type { ServerAddress } from '../server/serverAddress.ts';
import { withSuperuser } from '../server/superuser.ts';
import { ReplicationConnection, type ReplicationSender } from './replicationConnection.ts';
import type { ReplicationCommand } from './replicationCommand.ts';
import { MAX_SLOTS } from './slotFunctions.ts';

/** The most processes that may send changes at once, as on the public service. */
const MAX_SENDERS = 10;

/** Asks Postgres whose session it is. Only roles of the API may replicate: they are members of a role that SQL can't grant. */
const SESSION = `
  select datname as database, usename as role, application_name as application,
    pg_catalog.pg_has_role(usesysid, 'pg_signal_backend', 'MEMBER') as "isAllowed"
  from pg_catalog.pg_stat_activity where pid operator(pg_catalog.=) $1`;

interface SessionRow {
  readonly database: string;
  readonly role: string;
  readonly application: string;
  readonly isAllowed: boolean;
}

const SLOTS = `
  select slot_name as name, database from pg_catalog.pg_replication_slots
  where slot_type operator(pg_catalog.=) 'logical'`;

/** Opens the senders for clients of replication. */
export class ReplicationSenders {
  readonly #deps: ServerDependencies;
  /** The processes of sessions by the processes of their senders. */
  readonly #sessions = new Map<number, number>();
  #count = 0;

  constructor(deps: ServerDependencies) {
    this.#deps = deps;
  }

  /** @param session the session of the client, which Postgres may still refuse @throws {ClientRefusal} if the compute serves no replication */
  connect(
    client: net.Socket,
    session: net.Socket,
    { options }: ReplicationRequest,
    { type, logicalReplication }: ComputeSpec,
    address: ServerAddress | undefined,
  ): void {
    if (type === 'read_only')
      throw new ClientRefusal(
        '0A000',
        'a read replica serves no replication',
        "Use the primary compute's address",
      );
    if (logicalReplication !== true || address === undefined)
      throw new ClientRefusal(
        '55000',
        'logical replication is off in this project',
        'Turn on enable_logical_replication in the settings of the project, in VS Code by Turn On Logical Replication…. It stays on',
      );
    void new ReplicationConnection(client, session, async (pid) => this.#open(address, pid, options));
  }

  /** Returns the process of the client's session for a process that sends changes, and any other process itself. */
  sessionOf(pid: number): number {
    return this.#sessions.get(pid) ?? pid;
  }

  async #open(address: ServerAddress, pid: number, options: string): Promise<ReplicationSender> {
    const session = await this.#sessionOf(address, pid);
    if (this.#count >= MAX_SENDERS)
      throw new ClientRefusal('53300', `this compute already sends changes to ${MAX_SENDERS} clients`);
    this.#count += 1;
    try {
      const { id, socket } = await this.#login(address, session, options);
      this.#sessions.set(id, pid);
      socket.once('close', () => {
        this.#sessions.delete(id);
        this.#count -= 1;
      });
      return { socket, requireAllowed: async (command) => this.#requireAllowed(address, session, command) };
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }

  async #sessionOf(address: ServerAddress, pid: number): Promise<SessionRow> {
    const found = await withSuperuser(this.#deps, address, async (client) =>
      client.query<SessionRow>(SESSION, [pid]),
    );
    const session = found.rows[0];
    if (session === undefined) throw new ClientRefusal('57P01', 'the session has ended');
    if (!session.isAllowed)
      throw new ClientRefusal(
        '42501',
        `role ${session.role} may not replicate`,
        'Roles that were created in SQL may not. Create a role on the branch by the API, the command line or VS Code',
      );
    // Postgres would take such a client for the service's own standby. It compares these names without regard to case.
    if (session.application.toLowerCase() === REHEARSAL_STANDBY)
      throw new ClientRefusal('42501', `only the service has the application name ${REHEARSAL_STANDBY}`);
    return session;
  }

  /** Returns a connection that waits for a command. */
  async #login(
    address: ServerAddress,
    { database, application }: SessionRow,
    options: string,
  ): Promise<{ readonly id: number; readonly socket: Duplex }> {
    const config: Parameters<typeof createPgClient>[0] & { readonly replication: string } = {
      ...address,
      user: REPLICATOR,
      password: this.#deps.logins.replicator,
      database,
      // The name must not be empty, because then a name in the options would count.
      application_name: application || 'replication',
      options,
      ssl: false,
      client_encoding: 'UTF8',
      replication: 'database',
    };
    const sender = createPgClient(config);
    try {
      await sender.connect();
    } catch (error) {
      const { code, message } = fieldsOf(error);
      if (code !== '42501') throw error;
      throw new ClientRefusal(code, String(message), `GRANT CONNECT ON DATABASE … TO ${REPLICATOR}`);
    }
    const { stream } = sender.connection;
    stream.removeAllListeners('data').pause();
    return { id: Number(fieldsOf(sender)['processID']), socket: stream };
  }

  async #requireAllowed(
    address: ServerAddress,
    { database }: SessionRow,
    command: ReplicationCommand,
  ): Promise<void> {
    if (command.kind !== 'create' && command.kind !== 'drop') return;
    const { rows: slots } = await withSuperuser(this.#deps, address, async (client) =>
      client.query<{ name: string; database: string }>(SLOTS),
    );
    if (command.kind === 'drop') {
      // Postgres would also drop slots of other databases, and physical slots.
      if (!slots.some((slot) => slot.name === command.slot && slot.database === database))
        throw new ClientRefusal('42704', `replication slot "${command.slot}" does not exist`);
    } else if (slots.length >= MAX_SLOTS)
      throw new ClientRefusal(
        '53400',
        'all replication slots are in use',
        'Drop one that no client needs any more',
      );
  }
}
