import type { CommandContext } from './context.ts';

/** Refreshes all lists that the window shows. @param collapsed ids of other projects to refresh @throws {ApiError} */
export async function refreshAll(
  { inventory, apiKeys, computesView }: CommandContext,
  collapsed: readonly string[] = [],
): Promise<void> {
  // The keys are read again only if they were shown before. Their view shows a failure.
  const keys = apiKeys.wasRequested ? apiKeys.refresh().catch(() => undefined) : undefined;
  await Promise.all([inventory.refreshAll([...computesView.expandedProjects, ...collapsed]), keys]);
}
