import { l10n, window } from 'vscode';
import { asProjectNode } from '../../model/inventory/nodes.ts';
import type { Command } from './context.ts';

/** Asks the service again for what is on screen, or for one project's computes. */
export const refresh: Command = async (context, argument, run) => {
  const location = { viewId: 'hostedPostgres.computes' };
  await window.withProgress({ location }, async () => await ask(context, argument, run));
};

const ask: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not refresh');
  const { session, inventory, apiKeys, computesView } = context;
  if (session.connection === undefined) return await session.reread();
  const project = asProjectNode(argument);
  if (project !== undefined) return await inventory.refreshComputes(project.projectId);
  // Keys are asked for only where they were looked at; their failure is told in their own view.
  const keys = apiKeys.isWanted ? apiKeys.refresh().catch(() => undefined) : undefined;
  await Promise.all([inventory.refreshAll(computesView.expandedProjects), keys]);
};
