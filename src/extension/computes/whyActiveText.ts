/** Says in one line why a compute is active. It takes a translator instead of using `vscode`, because agents get the text in English. */
import type { PostgresSession } from '../../api/records/records.ts';
import { sanitize } from '../../base/sanitize.ts';
import { unitText, type Translator } from '../../base/translator.ts';
import { TIME_UNITS } from '../window/timeUnits.ts';
import type { ActivityCause, WhyActive } from './whyActive.ts';

export function whyActiveText(why: WhyActive, l10n: Translator): string {
  const { isReplica, activeFor, suspendsAfter, suspendsIn, starts, startsEvery, cuHours = 0 } = why;
  const cause = causeText(why, l10n);
  const state = stateText(why, l10n);
  const active =
    activeFor === undefined
      ? l10n.t('Active: {0}.', cause)
      : l10n.t('Active for {0}: {1}.', approximateDuration(activeFor, l10n), cause);
  const parts = [state ?? active];
  if (isReplica) parts.unshift(l10n.t('Read replica.'));
  if (suspendsAfter !== undefined)
    parts.push(l10n.t('Suspends {0} after that ends.', approximateDuration(suspendsAfter, l10n)));
  if (suspendsIn !== undefined) parts.push(l10n.t('Suspends in {0}.', approximateDuration(suspendsIn, l10n)));
  if (why.isLocalRule)
    parts.push(
      l10n.t('The public service counts statements, not connections, so it would suspend this compute.'),
    );
  if (startsEvery !== undefined)
    parts.push(
      l10n.t(
        'Started {0} times in the last day, every {1} or so: something polls.',
        starts,
        approximateDuration(startsEvery, l10n),
      ),
    );
  else if (starts > 1) parts.push(l10n.t('Started {0} times in the last day.', starts));
  const hours = new Intl.NumberFormat(l10n.language, ONE_DIGIT).format(cuHours);
  if (cuHours >= 0.05) parts.push(l10n.t('About {0} CU-hours in the last day.', hours));
  return parts.join(' ');
}

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** Returns text such as `31 min`, in the largest unit of which there are at least two. */
function approximateDuration(seconds: number, { language }: Translator): string {
  const [unit, length] = TIME_UNITS.find(([, each]) => seconds >= 2 * each) ?? ['second', 1];
  return unitText(language, Math.round(seconds / length), unit);
}

/** Returns undefined for an active compute. */
function stateText({ cause, lastUsed }: WhyActive, l10n: Translator): string | undefined {
  switch (cause) {
    case 'disabled':
      return l10n.t('Disabled.');
    case 'suspended':
      return lastUsed === undefined
        ? l10n.t('Idle. It starts when somebody connects.')
        : l10n.t(
            'Idle, and last active {0} ago. It starts when somebody connects.',
            approximateDuration(lastUsed, l10n),
          );
    case 'starting':
      return l10n.t('Starting.');
    case 'suspending':
      return l10n.t('Suspending.');
    case 'changing':
      return l10n.t('A change is in progress.');
    case 'unknownState':
      return l10n.t('Its state is unknown.');
    default:
      return undefined;
  }
}

function causeText(why: WhyActive, l10n: Translator): string {
  const { cause, session, client, clients, lastUsed = 0 } = why;
  const name = session === undefined ? '' : sessionText(session, l10n);
  const who =
    client === undefined
      ? name
      : l10n.t('{0} ({1}, process {2})', name, sanitize(client.program, 60), String(client.pid));
  const inState = approximateDuration(session?.state_for ?? 0, l10n);
  const inTransaction = approximateDuration(session?.transaction_for ?? 0, l10n);
  const texts: Partial<Record<ActivityCause, () => string>> = {
    connectionFlood: () => l10n.t('{0} clients are connected, most like {1}', clients, who),
    logicalReplication: () => replicationText(who, session, l10n),
    blocked: () => l10n.t('{0} waiting for a lock for {1}', who, inState),
    idleInTransaction: () => l10n.t('{0} idle in transaction for {1}', who, inTransaction),
    copyingData: () => l10n.t('{0} copying data for {1}', who, inState),
    agent: () => l10n.t('agent {0}, in its current state for {1}', who, inState),
    cron: () => l10n.t('scheduled job {0}, running for {1}', who, inState),
    query: () => l10n.t('{0} running a statement for {1}', who, inState),
    listen: () => l10n.t('{0} listening for notifications for {1}', who, inState),
    pollingSession: () => l10n.t('{0} polling, with its last statement {1} ago', who, inState),
    psql: () =>
      client === undefined
        ? l10n.t('psql left open, idle for {0}', inState)
        : l10n.t('psql left open (process {0}), idle for {1}', String(client.pid), inState),
    idleSession: () => l10n.t('{0} connected, but idle for {1}', who, inState),
    branchCopy: () => l10n.t('its data is being copied to a new branch'),
    neverSuspends: () => l10n.t('autosuspend is off; clients connected: {0}', clients),
    pooled: () => l10n.t('statements through PgBouncer'),
    started: () => l10n.t('started, and not used since'),
    restarted: () => l10n.t('restarted, and not used since'),
    scheduled: () => l10n.t('started on a schedule'),
    repeatedUse: () => l10n.t('clients come and go, and none is connected now'),
    autovacuum: () => l10n.t("only autovacuum is running, which doesn't keep it active"),
    preparedTransaction: () =>
      l10n.t(
        "no client in use; the prepared transaction {0}, open for {1}, doesn't keep it active",
        who,
        inTransaction,
      ),
    inUse: () => l10n.t('in use'),
    unused: () => l10n.t('not used for {0}', approximateDuration(lastUsed, l10n)),
  };
  return texts[cause]?.() ?? '';
}

function replicationText(who: string, session: PostgresSession | undefined, l10n: Translator): string {
  const { slot, lag } = session ?? {};
  if (!slot || typeof lag !== 'number') return l10n.t('logical replication to {0}', who);
  return l10n.t(
    'logical replication to {0} by the slot “{1}”, {2} behind',
    who,
    sanitize(slot, 63),
    unitText(l10n.language, lag / 1e6, 'megabyte', ONE_DIGIT),
  );
}

/** Names a session by its application, or else by its role. */
function sessionText({ id, type, application, role }: PostgresSession, l10n: Translator): string {
  const name = sanitize(application ?? '', 60);
  if (type === 'prepared transaction') return `“${sanitize(id, 60)}”`;
  if (name !== '') return l10n.t('session “{0}”', name);
  return l10n.t('a session of “{0}”', sanitize(role ?? '', 60));
}
