/**
 * Finds out why a compute is active from its record, its operations and, if they are known, its sessions. All of it is pure
 * functions, so that tests can cover the many rules. At the public service, a client keeps the compute active while it runs a
 * statement or has a transaction open, and otherwise its last statement counts. At the local service, each open connection keeps
 * the compute active.
 */
import type { Compute, Operation, PostgresSession } from '../../api/records/records.ts';
import { AGENT_APPLICATION } from '../../api/rules/sessions.ts';
import { autosuspendSeconds } from '../../api/rules/autosuspendDelay.ts';
import { isLocalCompute } from '../../api/addresses/host.ts';
import { computeStatus, computeSizeRange } from '../inventory/computeStatus.ts';
import type { ClientProcess } from './clientProcess.ts';
import {
  lastDayActivity,
  totalTime,
  type KnownOperations,
  type ComputeStart,
} from '../operations/activitySpans.ts';
import { isEndedOperation } from '../operations/pendingChange.ts';

/** All that the cause is found out from. */
export interface ActivityFacts extends KnownOperations {
  readonly compute: Compute;
  /** Undefined if the sessions weren't asked for. */
  readonly sessions?: readonly PostgresSession[] | undefined;
  /** The number of PgBouncer's clients, which only the local service knows. */
  readonly pooledClients?: number | undefined;
}

/** What keeps a compute active now, see `holdingCause`. Its autosuspend delay begins only when that ends. */
type HoldingCause =
  | 'connectionFlood'
  | 'logicalReplication'
  | 'blocked'
  | 'idleInTransaction'
  | 'copyingData'
  | 'agent'
  | 'cron'
  | 'query'
  | 'listen'
  | 'pollingSession'
  | 'psql'
  | 'idleSession'
  | 'branchCopy';

/** What keeps a compute active, or why it isn't. */
export type ActivityCause =
  | HoldingCause
  | 'disabled'
  | 'suspended'
  | 'starting'
  | 'suspending'
  | 'changing'
  | 'unknownState'
  | 'neverSuspends'
  | 'pooled'
  | 'started'
  | 'restarted'
  | 'scheduled'
  | 'repeatedUse'
  | 'autovacuum'
  | 'preparedTransaction'
  | 'inUse'
  | 'unused';

/** Why a compute is active. Durations are in seconds. */
export interface WhyActive {
  readonly cause: ActivityCause;
  readonly isReplica: boolean;
  /** The session that is the cause. */
  readonly session?: PostgresSession | undefined;
  /** The program that has opened the session, if the program is on this machine. */
  readonly client?: ClientProcess | undefined;
  /** How many client sessions there are. */
  readonly clients: number;
  readonly activeFor?: number | undefined;
  /** Seconds since the compute was last used, by its record and its sessions. */
  readonly lastUsed?: number | undefined;
  /** Seconds from the end of the cause until the compute suspends. */
  readonly suspendsAfter?: number | undefined;
  readonly suspendsIn?: number | undefined;
  /** Whether the public service would suspend the compute in spite of the cause. */
  readonly isLocalRule: boolean;
  /** The number of starts in the last day, which `cuHours` is about, too. */
  readonly starts: number;
  /** The time between two starts, if the starts are regular. */
  readonly startsEvery?: number | undefined;
  readonly cuHours?: number | undefined;
}

/** From this number of sessions on, their number is the cause that is shown. */
const FLOOD_SESSIONS = 50;
/** The seconds for which PgBouncer of the local service keeps an unused session. */
const POOLED_SESSION = 6;
/** A use within this many milliseconds after a start counts as the use that has started the compute. */
const FIRST_USE = 15_000;
/** A compute counts as in use for this many milliseconds after its last use. */
export const RECENT_USE_MILLISECONDS = 60_000;
/** The fewest starts in which a rhythm can be seen. */
const MIN_STARTS = 4;

/** Finds out what keeps a compute active, or why it isn't active, and when it will suspend. */
export function whyActive(facts: ActivityFacts): WhyActive {
  const { compute, sessions = [] } = facts;
  const clients = sessions.filter(({ type }) => type === 'client backend');
  const { lastStart, ...statistics } = activityStatistics(facts);
  const used = lastUsed(facts, clients);
  const why = {
    isReplica: compute.type === 'read_only',
    clients: clients.length,
    lastUsed: used,
    isLocalRule: false,
    ...statistics,
  };
  const state = stateCause(facts);
  if (state !== undefined) return { ...why, cause: state };
  const delay = autosuspendSeconds(compute.suspend_timeout_seconds ?? undefined);
  const held = holdingCause(facts, clients, delay ?? Infinity);
  if (delay === undefined) return { ...why, ...held, cause: 'neverSuspends' };
  if (held !== undefined) {
    const isUnused = clients.every(({ state_for }) => (state_for ?? 0) >= delay);
    const isLocalRule = isLocalCompute(compute) && ONLY_LOCAL.includes(held.cause) && isUnused;
    return { ...why, ...held, suspendsAfter: delay, isLocalRule };
  }
  const passing = passingCause(facts, { ...statistics, lastStart, delay }, used);
  // A use that goes on has no end yet, so the compute suspends only after the whole delay.
  const isUsed = passing.cause === 'inUse' || passing.cause === 'pooled';
  const suspends = isUsed ? { suspendsAfter: delay } : { suspendsIn: Math.max(0, delay - (used ?? 0)) };
  return { ...why, ...passing, ...suspends };
}

function activityStatistics(facts: ActivityFacts) {
  const { compute, now } = facts;
  const { spans, starts } = lastDayActivity(compute, facts);
  const last = spans.findLast(({ phase }) => phase === 'active');
  const since = Date.parse(compute.started_at ?? '') || last?.from;
  const isActive = compute.current_state === 'active';
  const size = computeSizeRange(compute)?.min;
  const first = starts.filter(({ isRestart }) => !isRestart);
  return {
    // The clock of this machine may be behind that of the service.
    activeFor: isActive && since !== undefined ? Math.max(0, now - since) / 1000 : undefined,
    lastStart: starts.at(-1),
    starts: first.length,
    startsEvery: regularInterval(first.map(({ at }) => at)),
    cuHours: size === undefined ? undefined : (totalTime(spans, 'active') / 3_600_000) * size,
  };
}

function stateCause({ compute }: ActivityFacts): ActivityCause | undefined {
  const status = computeStatus(compute);
  if (status === 'active') return undefined;
  if (status === 'disabled') return 'disabled';
  if (status === 'idle') return 'suspended';
  if (status === 'init') return 'starting';
  if (status === 'unknown') return 'unknownState';
  if (compute.pending_state === compute.current_state) return 'changing';
  return compute.pending_state === 'active' ? 'starting' : 'suspending';
}

/** Returns the seconds since the compute was last used, by its record and its sessions. */
function lastUsed(
  { compute, now }: ActivityFacts,
  clients: readonly PostgresSession[] = [],
): number | undefined {
  const recorded = Date.parse(compute.last_active ?? '');
  const all = clients.flatMap(({ state_for }) => state_for ?? []);
  if (!Number.isNaN(recorded)) all.push((now - recorded) / 1000);
  return all.length === 0 ? undefined : Math.max(0, Math.min(...all));
}

interface Found<C extends ActivityCause = ActivityCause> {
  readonly cause: C;
  readonly session?: PostgresSession | undefined;
}

/** Returns what keeps the compute active now: the most certain cause, if there are several. */
function holdingCause(
  { compute, operations, sessions = [], pooledClients = 0 }: ActivityFacts,
  clients: readonly PostgresSession[],
  delay: number,
): Found<HoldingCause> | undefined {
  const isLocal = isLocalCompute(compute);
  const find = (
    cause: HoldingCause,
    duration: 'transaction_for' | 'state_for',
    matches: (session: PostgresSession) => boolean,
  ) => {
    const byDuration = (a: PostgresSession, b: PostgresSession) => (b[duration] ?? 0) - (a[duration] ?? 0);
    const [session] = clients.filter(matches).toSorted(byDuration);
    return session && { cause, session };
  };
  const slot = sessions.find(({ type, replication }) => type === 'walsender' && replication !== 'physical');
  if (slot !== undefined) return { cause: 'logicalReplication', session: slot };
  if (clients.length >= FLOOD_SESSIONS) return { cause: 'connectionFlood', session: mostCommon(clients) };
  const working =
    find('blocked', 'state_for', ({ state, is_blocked }) => state === 'active' && is_blocked === true) ??
    find('idleInTransaction', 'transaction_for', ({ state }) => state?.startsWith('idle in ') === true) ??
    find('copyingData', 'state_for', ({ state, is_copying }) => state === 'active' && is_copying === true) ??
    find(
      'agent',
      'state_for',
      (each) => isCounted(each, isLocal) && each.application === AGENT_APPLICATION,
    ) ??
    find('cron', 'state_for', (each) => isCounted(each, isLocal) && each.application === CRON_APPLICATION) ??
    find('query', 'state_for', (each) => each.state !== 'idle');
  if (working !== undefined) return working;
  const isPooled = pooledClients > 0 && clients.every(({ state_for }) => (state_for ?? 0) <= POOLED_SESSION);
  if (isPooled) return undefined;
  const polls = ({ state_for, connected_for }: PostgresSession) =>
    (state_for ?? Infinity) < Math.min(delay, RECENT_USE_MILLISECONDS / 1000) &&
    (connected_for ?? 0) >= 2 * delay;
  const idle =
    (isLocal ? find('listen', 'state_for', ({ command }) => command === 'LISTEN') : undefined) ??
    find('pollingSession', 'state_for', polls) ??
    (isLocal ? find('psql', 'state_for', ({ application }) => application === 'psql') : undefined) ??
    (isLocal ? find('idleSession', 'state_for', () => true) : undefined);
  if (idle !== undefined) return idle;
  const isCopied = ({ action, status }: Operation) =>
    action === 'create_branch' && !isEndedOperation({ status });
  return isLocal && operations.some(isCopied) ? { cause: 'branchCopy' } : undefined;
}

/** What the extension pg_cron calls the sessions of its jobs. */
const CRON_APPLICATION = 'pg_cron';

const isCounted = ({ state }: PostgresSession, isLocal: boolean): boolean => isLocal || state !== 'idle';

/** The causes that count only at the local service. The public service counts only the last statement of an idle session. */
const ONLY_LOCAL: readonly HoldingCause[] = ['listen', 'psql', 'idleSession'];

function mostCommon(clients: readonly PostgresSession[]): PostgresSession | undefined {
  const groups = [...Map.groupBy(clients, ({ application, role }) => application || role).values()];
  return groups.sort((a, b) => b.length - a.length)[0]?.[0];
}

/**
 * Returns why a compute is active although `holdingCause` finds nothing: it may still be in use, or waits for its
 * autosuspend delay.
 * @param sinceUse seconds since it was last used
 */
function passingCause(
  facts: ActivityFacts,
  {
    startsEvery,
    activeFor = 0,
    lastStart,
    delay,
  }: Pick<WhyActive, 'startsEvery' | 'activeFor'> & {
    readonly lastStart: ComputeStart | undefined;
    readonly delay: number;
  },
  sinceUse = Infinity,
): Found {
  const { now, sessions, pooledClients = 0 } = facts;
  const sessionOf = (type: string) => sessions?.find((each) => each.type === type);
  if (pooledClients > 0 && sinceUse <= POOLED_SESSION) return { cause: 'pooled' };
  const prepared = sessionOf('prepared transaction');
  if (prepared !== undefined) return { cause: 'preparedTransaction', session: prepared };
  if (startsEvery !== undefined) return { cause: 'scheduled' };
  const isUnusedSinceStart = lastStart !== undefined && now - sinceUse * 1000 <= lastStart.ready + FIRST_USE;
  if (isUnusedSinceStart) return { cause: lastStart.isRestart ? 'restarted' : 'started' };
  const autovacuum = sessionOf('autovacuum worker');
  if (autovacuum !== undefined) return { cause: 'autovacuum', session: autovacuum };
  // No client is connected, for example between two connections of a program that polls.
  const hasNoClients = sessions !== undefined && sessionOf('client backend') === undefined;
  if (hasNoClients && activeFor > 2 * delay && sinceUse < delay) return { cause: 'repeatedUse' };
  return { cause: sessions === undefined && sinceUse * 1000 < RECENT_USE_MILLISECONDS ? 'inUse' : 'unused' };
}

/** Returns the time between two starts if most are about the same, in seconds. */
function regularInterval(times: readonly number[]): number | undefined {
  if (times.length < MIN_STARTS) return undefined;
  const gaps = times.slice(1).map((time, index) => (time - (times[index] ?? time)) / 1000);
  const median = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  const close = gaps.filter((gap) => Math.abs(gap - median) <= 0.2 * median);
  return close.length >= 0.7 * gaps.length ? median : undefined;
}
