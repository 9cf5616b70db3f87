/** Refreshes the rows in the active editor, from a button in its title. */
import { l10n } from 'vscode';
import type { Command } from '../../commandSupport/context.ts';
import { refreshComparison } from './compareBranchRows.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { activeRows, refreshPeek } from './peekRows.ts';

export const refreshRows: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't refresh the rows");
  const active = activeRows(context);
  if (active === undefined) throw new Error(l10n.t('These rows are no longer in memory.'));
  const { tab, request } = active;
  const { base, past } = request;
  if (past !== undefined) await executeCommand('hostedPostgres.history.compareRows', { again: true });
  else if (base === undefined) await refreshPeek(context, run, tab, request);
  else await refreshComparison(context, run, tab, { ...request, base });
};
