/** The hover for a compute's host or id: its details, and links to commands. */
import { Hover, l10n, Range } from 'vscode';
import { isLoopback } from '../../api/baseUrl.ts';
import type { Account } from '../../model/account/accounts.ts';
import type { HostMatch } from '../../model/inventory/computeIndex.ts';
import { looksLikeCompute, type HostAtPosition } from '../../model/connection/hostAtPosition.ts';
import type { ComputeNode } from '../../model/inventory/nodes.ts';
import { computeTable } from '../text/computeTable.ts';
import { markdown, withCommandLinks } from '../text/markdown.ts';

export function hostHover(
  { compute, isPooled, withPort }: HostMatch,
  mention: HostAtPosition,
  line: number,
  branchName: string | undefined,
): Hover {
  const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
  const node: ComputeNode = { kind: 'compute', projectId, branchId, computeId };
  const note = isPooled ? l10n.t('This is its host for pooled connections.') : '';
  const content = withCommandLinks(
    markdown`${computeTable(compute, branchName)}\n\n${note}`,
    {
      'hostedPostgres.compute.copyHost': l10n.t('Copy Host'),
      'hostedPostgres.compute.copyConnectionString': l10n.t('Copy Connection String…'),
      'hostedPostgres.compute.openPsql': l10n.t('Open psql'),
      'hostedPostgres.compute.restart': l10n.t('Restart Compute'),
    },
    node,
  );
  const end = withPort ? mention.portEnd : mention.end;
  return new Hover(content, new Range(line, mention.start, line, end));
}

/** Whether a host could belong to a compute that isn't loaded yet. */
export function mayBeCompute({ host, port }: HostAtPosition, account: Account | undefined): boolean {
  if (looksLikeCompute(host)) return true;
  if (account === undefined || port === undefined || !isLoopback(host)) return false;
  return isLoopback(new URL(account.baseUrl).hostname);
}
