/**
 * The tools that change a compute. VS Code asks the user first, in the words of `prepare`; what may be done is checked
 * again in `invoke`, which can be called without any question before it.
 */
import { l10n, MarkdownString, type CancellationToken } from 'vscode';
import type { CallOptions } from '../../api/client.ts';
import { changeEffect } from '../../api/effects.ts';
import type { Compute } from '../../api/records.ts';
import { sizeProblem, type SizeRange } from '../../api/sizes.ts';
import type { AcceptedChange } from '../../model/computeChanges.ts';
import { onlyChanged } from '../../model/computeEdit.ts';
import { sizeText } from '../../model/computeStatus.ts';
import type { ComputeNode } from '../../model/nodes.ts';
import { effectText } from '../text/effectText.ts';
import { escapeMarkdown } from '../text/sanitize.ts';
import { computeAt, fieldsOf, targetOf, type Target } from './input.ts';
import type { Tool, ToolParts } from './parts.ts';
import { computeTold, nameTold } from './told.ts';

export const restartCompute: Tool = {
  prepare(parts, input) {
    const target = targetOf(input);
    if (target === undefined) return undefined;
    const name = nameAt(parts, target);
    return {
      invocationMessage: l10n.t('Restarting {0}', name),
      confirmationMessages: {
        title: l10n.t('Restart {0}?', name),
        message: confirmation(
          parts,
          target,
          l10n.t('Its connections are dropped. Clients have to reconnect.'),
        ),
      },
    };
  },
  async invoke(parts, input, token) {
    const compute = await computeAt(parts, input);
    return cancellable(token, async (options) =>
      outcome(await parts.changes.restart(nodeOf(compute), options)),
    );
  },
};

export const resizeCompute: Tool = {
  prepare(parts, input) {
    const target = targetOf(input);
    const size = rangeOf(input);
    if (target === undefined || size === undefined || sizeProblem(size) !== undefined) return undefined;
    const name = nameAt(parts, target);
    const wanted = sizeText(sizeFields(size));
    return {
      invocationMessage: l10n.t('Changing the size of {0}', name),
      confirmationMessages: {
        title: l10n.t('Change the size of {0} to {1}?', name, wanted),
        message: confirmation(parts, target, effectText('restart') ?? ''),
      },
    };
  },
  async invoke(parts, input, token) {
    const compute = await computeAt(parts, input);
    const size = rangeOf(input);
    if (size === undefined) throw new Error(l10n.t('minCu and maxCu must be numbers.'));
    checkSize(size);
    const change = onlyChanged(compute, sizeFields(size));
    if (change === undefined) return { changed: false, compute: computeTold(compute) };
    const restarts = changeEffect(compute, change) === 'restart';
    return cancellable(token, async (options) => ({
      ...outcome(await parts.changes.update(nodeOf(compute), change, options)),
      restarts,
    }));
  },
};

/** A fixed size where there is no maximum. @returns undefined when there is no minimum either */
function rangeOf(input: unknown): SizeRange | undefined {
  const { minCu: min, maxCu: max = min } = fieldsOf(input);
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : undefined;
}

const sizeFields = ({ min, max }: SizeRange) => ({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
});

function checkSize(size: SizeRange): void {
  switch (sizeProblem(size)) {
    case undefined:
    case 'above-plan':
      return; // The service knows the plan.
    case 'not-a-size':
      throw new Error(l10n.t('The service has no compute of this size.'));
    case 'min-above-max':
      throw new Error(l10n.t('The minimum is greater than the maximum.'));
  }
}

const nodeOf = ({ project_id: projectId, branch_id: branchId, id: computeId }: Compute): ComputeNode => ({
  kind: 'compute',
  projectId,
  branchId,
  computeId,
});

const nameAt = ({ inventory }: ToolParts, { projectId, computeId }: Target): string => {
  const compute = inventory.compute(projectId, computeId);
  return compute === undefined ? computeId : nameTold(compute);
};

/** Names the thing as far as it is known, then the consequence. Names are other people's text. */
function confirmation({ inventory }: ToolParts, { projectId, computeId }: Target, consequence: string) {
  const compute = inventory.compute(projectId, computeId);
  const project = inventory.project(projectId)?.name ?? projectId;
  const size = compute === undefined ? '' : sizeText(compute);
  const thing = [computeId, compute?.branch_id ?? '', project, size].filter((part) => part !== '');
  return new MarkdownString(`${thing.map(escapeMarkdown).join(' · ')}\n\n${escapeMarkdown(consequence)}`);
}

const outcome = ({ compute, isPending }: AcceptedChange) => ({
  changed: true,
  /** The service is still at it; the compute's state tells when it has ended. */
  underway: isPending,
  compute: compute && computeTold(compute),
});

async function cancellable<T>(
  token: CancellationToken,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const given = new AbortController();
  const listening = token.onCancellationRequested(() => given.abort());
  try {
    return await call({ signal: given.signal });
  } finally {
    listening.dispose();
  }
}
