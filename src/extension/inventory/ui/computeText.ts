/** A compute as icon, row and table. Each state has its own icon, because color alone isn't accessible. */
import { l10n, ThemeColor, ThemeIcon, type MarkdownString } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import {
  isPrimary,
  isSettled,
  computeStatus,
  computeLabel,
  computeSizeRange,
  type ComputeStatus,
} from '../computeStatus.ts';
import { isLocalCompute, pooledHost } from '../../../api/addresses/host.ts';
import { idAndName, idWithName } from '../../window/ui/idAndName.ts';
import { sizeText } from './sizeText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { maxConnections } from '../../../api/rules/sizes.ts';
import type { ResourceUsage } from '../usage.ts';
import { postgresSettings } from '../computeStatus.ts';
import { autosuspendText, timeAndDate } from '../../window/ui/timeText.ts';
import { usageText } from './usageText.ts';
import { markdownTable } from '../../window/ui/markdown.ts';

const ICONS: Readonly<Record<ComputeStatus, readonly [icon: string, color: string]>> = {
  pending: ['sync~spin', 'charts.yellow'],
  init: ['loading~spin', 'charts.yellow'],
  active: ['circle-filled', 'charts.green'],
  idle: ['circle-outline', 'descriptionForeground'],
  disabled: ['circle-slash', 'disabledForeground'],
  unknown: ['question', 'charts.orange'],
};

const FAILED = ['error', 'list.errorForeground'] as const;

export function computeIcon(compute: Compute): ThemeIcon {
  const [icon, color] = lastFailure(compute) === undefined ? ICONS[computeStatus(compute)] : FAILED;
  return new ThemeIcon(icon, new ThemeColor(color));
}

/** Returns why the compute isn't active, if its last start failed or its Postgres ended by itself. */
export const lastFailure = (compute: Compute): string | undefined =>
  isSettled(compute) && computeStatus(compute) !== 'disabled' ? compute.last_error || undefined : undefined;

/** Returns the current state, and the pending one if any. An unknown state is shown as the service sent it. */
export function statusText(compute: Compute): string {
  const { current_state: state, pending_state: pendingState } = compute;
  const status = computeStatus(compute);
  if (status === 'init') return l10n.t('init');
  if (status === 'disabled') return l10n.t('disabled');
  if (lastFailure(compute) !== undefined) return l10n.t('{0}, failed', stateName(state));
  if (status !== 'pending') return stateName(state);
  return pendingState === state
    ? l10n.t('{0}, changing', stateName(state))
    : `${stateName(state)} → ${stateName(pendingState ?? '')}`;
}

const stateName = (state: string): string => {
  if (state === 'active') return l10n.t('active');
  return state === 'idle' ? l10n.t('idle') : sanitize(state);
};

/** Returns what a pooled connection is at this service; undefined for the public service, where only the pooled host shows it. */
function poolingText(compute: Compute): string | undefined {
  if (!isLocalCompute(compute)) return undefined;
  if (compute.pooler_enabled !== true) return l10n.t('off');
  return compute.pooled_sessions === 'separate'
    ? l10n.t('on, a separate session for each client (there is no PgBouncer 1.21 or newer)')
    : l10n.t('on, in transaction mode (PgBouncer)');
}

export function typeText(compute: Compute): string {
  if (isPrimary(compute)) return l10n.t('primary');
  return compute.type === 'read_only' ? l10n.t('read replica') : sanitize(compute.type);
}

/** Returns the type of a compute with an explanation, because its name is a word of the service. */
function explainedType(compute: Compute): string {
  const type = typeText(compute);
  if (isPrimary(compute)) return l10n.t('{0}: the Postgres server of the branch', type);
  return compute.type === 'read_only' ? l10n.t('{0}: a Postgres server that only reads', type) : type;
}

interface RowText {
  readonly label: string;
  readonly description: string;
}

/**
 * Returns the row of a compute in the tree, which may be narrow: only what isn't the rule, and the state, because not everybody knows
 * the icons. With names first, a compute without a name is called by its type.
 */
export function computeRow(compute: Compute): RowText {
  const type = typeText(compute);
  const { label, description: idOrName } = idAndName(compute.id, compute.name, type);
  const isTypeShown = label === type || isPrimary(compute);
  const shortType = compute.type === 'read_only' ? l10n.t('replica') : type;
  const facts = [isTypeShown ? '' : shortType, sizeText(compute), statusText(compute)];
  return { label, description: joinParts(...facts, idOrName) };
}

/** Returns the row of a compute in pickers, which are wide enough for the type and the state. */
export function computeChoice(compute: Compute): RowText {
  const type = typeText(compute);
  const { label, description: idOrName } = idAndName(compute.id, compute.name, type);
  const facts = [label === type ? '' : type, sizeText(compute), statusText(compute)];
  const isIdFirst = label === sanitize(compute.id);
  return { label, description: joinParts(...(isIdFirst ? [idOrName, ...facts] : [...facts, idOrName])) };
}

/** Joins the parts that aren't empty. */
export const joinParts = (...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join(' · ');

/**
 * Returns the tooltip of a compute.
 * @param branchName undefined if it isn't known
 * @param branchUsage the usage of all computes of the branch, because services don't count each one
 * @param activity why the compute is active
 */
export function computeTooltip(
  compute: Compute,
  branchName?: string,
  branchUsage: ResourceUsage = {},
  activity?: string,
): MarkdownString {
  const size = computeSizeRange(compute);
  const settings = Object.entries(postgresSettings(compute));
  return markdownTable(computeLabel(compute), [
    [l10n.t('Id'), compute.id],
    [l10n.t('Host'), compute.host],
    [l10n.t('State'), statusText(compute)],
    [l10n.t('Failure'), lastFailure(compute)],
    [l10n.t('Activity'), activity],
    [l10n.t('Type'), explainedType(compute)],
    [l10n.t('Branch'), idWithName(compute.branch_id, branchName)],
    [l10n.t('Size'), sizeText(compute)],
    ['max_connections', size && maxConnections(size.min)],
    [l10n.t('Autosuspend'), autosuspendText(compute.suspend_timeout_seconds)],
    [l10n.t('Pooled connections'), poolingText(compute)],
    [l10n.t('Pooled host'), pooledHost(compute)],
    [l10n.t('Passwordless access'), compute.passwordless_access === true ? l10n.t('yes') : undefined],
    [l10n.t('Postgres settings'), settings.map(([name, value]) => `${name} = ${value}`).join(', ')],
    [l10n.t('Last active'), compute.last_active && timeAndDate(compute.last_active)],
    [l10n.t('Branch used this period'), usageText(branchUsage)],
  ]);
}
