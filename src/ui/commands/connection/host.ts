/** The compute and the host that a command copies, inserts or writes. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { pooledHost } from '../../../model/connection/connectionStrings.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, singleStep, type Answer, type Page } from '../input/multiStepInput.ts';
import { pickCompute, requireCompute } from '../input/pickers.ts';
import { pickOne } from '../input/quickInput.ts';

/** The record of the argument's compute, or of the one the user picks. @returns undefined if the user canceled */
export async function pickRecord(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Compute | undefined> {
  const node = await pickCompute(context, title, argument);
  return node && (await requireCompute(context, node));
}

/** Asks for the compute if there is no argument, and for the host if there are two. */
export async function pickHost(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<string | undefined> {
  const compute = await pickRecord(context, title, argument);
  if (compute === undefined || pooledHost(compute) === undefined) return compute?.host;
  const isPooled = await singleStep(title, (page) => askPooled(page, compute));
  return isPooled === undefined ? undefined : hostOf(compute, isPooled);
}

export const hostOf = (compute: Compute, isPooled: boolean): string =>
  (isPooled ? pooledHost(compute) : undefined) ?? compute.host;

interface HostItem extends QuickPickItem {
  readonly isPooled: boolean;
}

/** @returns whether to use the pooled host */
export async function askPooled(page: Page, compute: Compute): Promise<Answer<boolean>> {
  const items: HostItem[] = [
    { label: l10n.t('Direct'), description: sanitize(compute.host), isPooled: false },
    { label: l10n.t('Pooled'), description: sanitize(pooledHost(compute) ?? ''), isPooled: true },
  ];
  return mapAnswer(
    await pickOne(page, { placeholder: l10n.t('Select a host'), items }),
    (item) => item.isPooled,
  );
}
