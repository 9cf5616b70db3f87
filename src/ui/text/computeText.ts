/** The state and type of a compute as icon and text. Each state has its own icon: color alone is not accessible. */
import { l10n, ThemeColor, ThemeIcon } from 'vscode';
import type { Compute } from '../../api/records/records.ts';
import {
  isPrimary,
  computeStatus,
  sizeText,
  type ComputeStatus,
} from '../../model/inventory/computeStatus.ts';
import { isLocalCompute } from '../../model/connection/connectionStrings.ts';
import { idAndName } from './idAndName.ts';
import { sanitize } from './sanitize.ts';

export function statusIcon(status: ComputeStatus): ThemeIcon {
  switch (status) {
    case 'pending':
      return new ThemeIcon('sync~spin', new ThemeColor('charts.yellow'));
    case 'init':
      return new ThemeIcon('loading~spin', new ThemeColor('charts.yellow'));
    case 'active':
      return new ThemeIcon('circle-filled', new ThemeColor('charts.green'));
    case 'idle':
      return new ThemeIcon('circle-outline', new ThemeColor('descriptionForeground'));
    case 'disabled':
      return new ThemeIcon('circle-slash', new ThemeColor('disabledForeground'));
    case 'unknown':
      return new ThemeIcon('question', new ThemeColor('charts.orange'));
    default:
      return status satisfies never;
  }
}

/** The current state, and the pending one if any. An unknown state is shown as the service sent it. */
export function statusText(compute: Compute): string {
  const { current_state: state, pending_state: pendingState } = compute;
  const status = computeStatus(compute);
  if (status === 'init') return l10n.t('init');
  if (status === 'disabled') return l10n.t('disabled');
  if (status !== 'pending') return stateName(state);
  return pendingState === state
    ? l10n.t('{0}, changing', stateName(state))
    : `${stateName(state)} → ${stateName(pendingState ?? '')}`;
}

const stateName = (state: string): string => {
  if (state === 'active') return l10n.t('active');
  return state === 'idle' ? l10n.t('idle') : sanitize(state);
};

/** What a pooled connection is at this service; undefined if only the pooled host says it. */
export function poolingText(compute: Compute): string | undefined {
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

/** The row of a compute in the tree and the pickers. The state comes last, because the icon shows it too. */
export function computeRow(compute: Compute): { readonly label: string; readonly description: string } {
  const { label, description } = idAndName(compute.id, compute.name);
  const parts = [description, typeText(compute), sizeText(compute), statusText(compute)];
  return { label, description: parts.filter((part) => part !== '').join(' · ') };
}
