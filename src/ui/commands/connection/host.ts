/** Which compute, and which of its hosts: asked by all that copies, inserts or writes one. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { pooledHost } from '../../../model/connection/connectionStrings.ts';
import { asComputeNode } from '../../../model/inventory/nodes.ts';
import { sanitize } from '../../text/sanitize.ts';
import { pickCompute } from '../input/pickers.ts';
import type { CommandContext } from '../context.ts';
import { answered, type Answer, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** The compute of a command's argument, or the one the user picks. @returns undefined when the user gave up */
export async function computeOf(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Compute | undefined> {
  const node = await pickCompute(context, title, asComputeNode(argument));
  if (node === undefined) return undefined;
  await context.inventory.loadComputes(node.projectId);
  const compute = context.inventory.compute(node.projectId, node.computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} is no longer there.', node.computeId));
  return compute;
}

/** Asks for the compute where it is not given, and whether direct or pooled where it has both. */
export async function askForHost(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<string | undefined> {
  const compute = await computeOf(context, title, argument);
  if (compute === undefined) return undefined;
  const pooled = pooledHost(compute);
  if (pooled === undefined) return compute.host;
  const choice = await chooseHost({ title, step: 1, steps: 1, canGoBack: false }, compute);
  return typeof choice === 'boolean' ? hostOf(compute, choice) : undefined;
}

export const hostOf = (compute: Compute, pooled: boolean): string =>
  (pooled ? pooledHost(compute) : undefined) ?? compute.host;

interface HostItem extends QuickPickItem {
  readonly pooled: boolean;
}

/** @returns whether the pooled host is wanted */
export async function chooseHost(page: Page, compute: Compute): Promise<Answer<boolean>> {
  const items: HostItem[] = [
    { label: l10n.t('Direct'), description: sanitize(compute.host), pooled: false },
    { label: l10n.t('Pooled'), description: sanitize(pooledHost(compute) ?? ''), pooled: true },
  ];
  return answered(await pickOne(page, { placeholder: l10n.t('Host'), items }), (item) => item.pooled);
}
