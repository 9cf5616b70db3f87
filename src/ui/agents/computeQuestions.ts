/** What the user is asked before a tool changes a compute: by VS Code's chat, or by the tool itself. */
import { l10n } from 'vscode';
import type { SizeRange } from '../../api/records/sizes.ts';
import type { ToolInput, ToolName } from '../../model/agents/toolSchemas.ts';
import { sizeText } from '../../model/inventory/computeStatus.ts';
import type { ComputeActions } from '../../model/operations/computeActions.ts';
import { effectText, suspendText } from '../text/changeText.ts';
import type { ComputeIds } from './toolCall.ts';

export type ComputeChangeName = Extract<ToolName, `${'start' | 'suspend' | 'restart' | 'resize'}Compute`>;

export interface ComputeQuestion<N extends ToolName> {
  readonly title: (name: string, input: ToolInput<N>) => string;
  /** The consequences. */
  readonly detail: (actions: ComputeActions, ids: ComputeIds) => string | Promise<string>;
  readonly button: string;
}

export const sizeOfInput = ({ minCu: min, maxCu: max = min }: ToolInput<'resizeCompute'>): SizeRange => ({
  min,
  max,
});

export const sizeFields = ({ min, max }: SizeRange) => ({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
});

const restartEffect = () => effectText('restart') ?? '';

export const computeQuestions: { readonly [N in ComputeChangeName]: ComputeQuestion<N> } = {
  startCompute: {
    title: (name) => l10n.t('Start {0}?', name),
    detail: () => l10n.t('No connections are interrupted.'),
    button: l10n.t('Start'),
  },
  suspendCompute: {
    title: (name) => l10n.t('Suspend {0}?', name),
    detail: async (actions, ids) => {
      const connections = await actions.openConnections(ids);
      return connections === 0 ? l10n.t('No connections are interrupted.') : suspendText(connections);
    },
    button: l10n.t('Suspend'),
  },
  restartCompute: {
    title: (name) => l10n.t('Restart {0}?', name),
    detail: restartEffect,
    button: l10n.t('Restart'),
  },
  resizeCompute: {
    title: (name, input) =>
      l10n.t('Change the size of {0} to {1}?', name, sizeText(sizeFields(sizeOfInput(input)))),
    detail: restartEffect,
    button: l10n.t('Change Size'),
  },
};
