/**
 * The terminals in which this window has started psql. A psql that lost its connection notices that with the next command, which
 * doesn't run. An extension can't write into a terminal, so what the user should know is said in the question before the change.
 */
import { l10n, window, type Terminal } from 'vscode';
import type { ComputeIds } from '../../account/refs.ts';

const computeIds = new WeakMap<Terminal, string>();

export function rememberPsql(terminal: Terminal, computeId: string): void {
  computeIds.set(terminal, computeId);
}

/**
 * @param dropped the computes that drop their connections
 * @param reconnects whether psql can connect again afterwards, to the same data
 * @returns undefined if no psql is connected to any of them
 */
export function droppedPsqlText(dropped: readonly ComputeIds[], reconnects = true): string | undefined {
  const ids = new Set(dropped.map(({ computeId }) => computeId));
  const isOpen = window.terminals.some((terminal) => ids.has(computeIds.get(terminal) ?? ''));
  if (!isOpen) return undefined;
  const lost = l10n.t('The open psql loses its connection too.');
  return reconnects
    ? `${lost} ${l10n.t('When psql reports the lost connection, enter your command again.')}`
    : lost;
}
