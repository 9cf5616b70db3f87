/** Finds out why a compute is active without waking it: at most one request, and at a hosted service one statement. */
import type { Compute, PostgresSession } from '../../api/records/records.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import { isLocalCompute } from '../../api/addresses/host.ts';
import type { Translator } from '../../base/translator.ts';
import { findComputeLogin } from '../connection/branchLogin.ts';
import { operationsKnownSince } from '../operations/activitySpans.ts';
import type { ClientProcess } from './clientProcess.ts';
import { whyActiveText } from './whyActiveText.ts';
import { RECENT_USE_MILLISECONDS, whyActive, type ActivityFacts } from './whyActive.ts';

/** How much may be asked to find out why a compute is active. */
export interface WhyActiveQuestion {
  /** Whether to ask Postgres, if the compute is active anyway. The local service always does. */
  readonly asksPostgres: boolean;
  readonly signal?: AbortSignal;
  readonly now?: number;
}

/** How many operations of the project are requested. For most projects, these are more than those of a day. */
const OPERATIONS = 500;

/** Returns why the compute is active, as a sentence; undefined if the service doesn't answer. */
export async function whyActiveSentence(
  connection: AccountConnection,
  compute: Compute,
  l10n: Translator,
  question: WhyActiveQuestion,
): Promise<string | undefined> {
  try {
    const why = whyActive(await loadFacts(connection, compute, question));
    const client = await findClient(compute, why.session, question.signal ?? connection.signal);
    return whyActiveText({ ...why, client }, l10n);
  } catch {
    // A tooltip or page is shown without this sentence.
    return undefined;
  }
}

/** @throws {ApiError} */
async function loadFacts(
  connection: AccountConnection,
  compute: Compute,
  { asksPostgres, now = Date.now(), signal = connection.signal }: WhyActiveQuestion,
): Promise<ActivityFacts> {
  const client = await connection.client();
  const { project_id: projectId, id } = compute;
  if (isLocalCompute(compute)) {
    const activity = await client.findActivity(projectId, id, { signal });
    if (activity !== undefined) return { compute, now, ...activity };
  }
  const found = await client.listOperations(projectId, OPERATIONS, { signal });
  const facts = {
    compute,
    now,
    operations: found?.operations ?? [],
    knownSince: found && operationsKnownSince(found),
  };
  if (!asksPostgres || isLocalCompute(compute) || !isInUse(facts)) return facts;
  return { ...facts, sessions: await askPostgres(connection, compute, signal) };
}

/** Returns the program that opened a session of a local compute. */
async function findClient(
  compute: Compute,
  session: PostgresSession | undefined,
  signal: AbortSignal,
): Promise<ClientProcess | undefined> {
  const clientPort = session?.client_port ?? undefined;
  if (clientPort === undefined || !isLocalCompute(compute)) return undefined;
  const hosts = [compute.host, compute.pooler_host ?? ''];
  const serverPorts = hosts.map((host) => Number(host.split(':')[1])).filter((port) => port > 0);
  // This loads `child_process`, which most windows don't need.
  const { findClientProcess } = await import('./clientProcess.ts');
  return await findClientProcess({ clientPort, serverPorts }, signal);
}

/** Whether the compute is in use. If not, Postgres isn't asked, because a statement would delay the suspension. */
const isInUse = ({ compute, now }: ActivityFacts): boolean =>
  compute.current_state === 'active' && now - Date.parse(compute.last_active ?? '') < RECENT_USE_MILLISECONDS;

async function askPostgres(
  connection: AccountConnection,
  compute: Compute,
  signal: AbortSignal,
): Promise<readonly PostgresSession[] | undefined> {
  const login = await findComputeLogin(connection, compute, { signal });
  if (login.missing !== undefined) return undefined;
  // This import loads `pg`, which most windows never need.
  const { readSessions } = await import('./readSessions.ts');
  return await readSessions(login, signal);
}
