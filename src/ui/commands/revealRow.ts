import type { BranchNode, ComputeNode, ProjectNode } from '../../model/inventory/nodes.ts';
import type { CommandContext } from './context.ts';

/** Selects a row. Never rejects: the change was made, even if the list that has the row couldn't be loaded. */
export async function revealRow(
  { computesView, log }: Pick<CommandContext, 'computesView' | 'log'>,
  node: ProjectNode | BranchNode | ComputeNode,
): Promise<void> {
  try {
    await computesView.reveal(node);
  } catch (error) {
    log.error('Revealing a row', error);
  }
}
