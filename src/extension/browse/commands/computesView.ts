/** Refresh the Computes view, find a compute in it, copy an id, and choose whether names or ids come first. */
import { refreshAll } from '../../commandSupport/refreshAll.ts';
import { l10n } from 'vscode';
import { asDatabaseRow, databaseRowName } from '../../inventory/databaseNodes.ts';
import { asBranchNode, asProjectNode } from '../../inventory/nodes.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { window } from '../../window/ui/window.ts';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { askInSteps } from '../../window/ui/input/multiStepInput.ts';
import { askForCompute, pickCompute } from '../../commandSupport/pickers.ts';

/**
 * Refreshes everything visible, and the project of the argument even if it is collapsed. That project may also be the focused
 * row, which VS Code passes to the button in the view's title.
 */
export const refreshView: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't refresh");
  const { session } = context;
  const databases = asDatabaseRow(argument);
  if (databases !== undefined) return context.computesView.reload(databases);
  await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, async () => {
    if (session.connection === undefined) return await session.reread();
    const project = asProjectNode(argument)?.projectId;
    await refreshAll(context, project === undefined ? [] : [project]);
  });
};

/** Copies the id of a project, branch or compute. The Command Palette asks for a compute. */
export const copyId: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the id");
  const parent = asBranchNode(argument)?.branchId ?? asProjectNode(argument)?.projectId;
  const id = parent ?? (await pickCompute(context, l10n.t('Copy Id'), argument))?.computeId;
  if (id !== undefined) await copyText(id, l10n.t('Copied {0}', id));
};

/** Copies the name of a database, table, column or function, from the menu of its row. */
export const copyName: Command = async (_context, argument) => {
  const name = databaseRowName(argument);
  if (name !== undefined) await copyText(name, l10n.t('Copied {0}', sanitize(name)));
};

const changeOrder =
  (areNamesFirst: boolean): Command =>
  async ({ nameOrder, computesView }) => {
    await nameOrder.change(areNamesFirst);
    computesView.redraw();
  };

export const showNamesFirst = changeOrder(true);
export const showIdsFirst = changeOrder(false);

/** Find Compute…: finds computes by name, id, branch or project and reveals one in the tree. */
export const findCompute: Command = async (context, _argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't find computes");
  const question = { placeholder: l10n.t('Search by name, id, branch or project') };
  const found = await askInSteps(l10n.t('Find Compute'), (ask) => askForCompute(context, ask, question));
  if (found !== undefined) await context.computesView.reveal(found);
};
