/** Refresh the Computes view, create something in it, copy ids and names, and choose whether names or ids come first. */
import { refreshAll } from '../../commandSupport/refreshAll.ts';
import { env, l10n, ThemeIcon, Uri } from 'vscode';
import { consolePage, isPublicService } from '../../account/publicService.ts';
import { asDatabaseRow, databaseRowName } from '../../inventory/databaseNodes.ts';
import { asBranchNode, asComputeNode, asProjectNode, asSnapshotNode } from '../../inventory/nodes.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { window } from '../../window/ui/window.ts';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { executeCommand, type OwnCommand } from '../../window/ui/executeCommand.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { pickCompute } from '../../commandSupport/pickers.ts';

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

/** Copies the id of a project, branch, snapshot or compute. The Command Palette asks for a compute. */
export const copyId: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the id");
  const other =
    asBranchNode(argument)?.branchId ??
    asProjectNode(argument)?.projectId ??
    asSnapshotNode(argument)?.snapshotId;
  const id = other ?? (await pickCompute(context, l10n.t('Copy Id'), argument))?.computeId;
  if (id !== undefined) await copyText(id, l10n.t('Copied {0}', id));
};

/** Opens the page of a project, branch or compute in the console of its service. The Command Palette opens all projects. */
export const openConsole: Command = async ({ session }, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open the console");
  if (!isPublicService(session.requireConnection().account.baseUrl))
    throw new Error(l10n.t("The address of this service's console isn't known."));
  const row = asComputeNode(argument) ?? asBranchNode(argument) ?? asProjectNode(argument);
  await env.openExternal(Uri.parse(consolePage(row ?? {})));
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

/** Asks what to create, for the button in the view's title. @param argument the row with the focus, if any */
export const askWhatToCreate: Command = async ({ session, inventory }, argument) => {
  session.requireConnection();
  const kinds: readonly Choice<OwnCommand['command']>[] = [
    {
      label: l10n.t('Branch'),
      iconPath: new ThemeIcon('git-branch'),
      description: l10n.t('with the data of another branch'),
      value: 'hostedPostgres.branch.create',
    },
    {
      label: l10n.t('Compute'),
      iconPath: new ThemeIcon('server-process'),
      description: l10n.t('to connect to a branch, or to read it faster'),
      value: 'hostedPostgres.compute.create',
    },
    {
      label: l10n.t('Project'),
      iconPath: new ThemeIcon('project'),
      description: l10n.t('with an empty database'),
      value: 'hostedPostgres.project.create',
    },
  ];
  const isOffered = ({ value }: Choice<OwnCommand['command']>) =>
    inventory.branches.isOffered || value === 'hostedPostgres.compute.create';
  const question = pickOne({ placeholder: l10n.t('Select what to create'), items: kinds.filter(isOffered) });
  const command = await singleStep(l10n.t('Create'), question);
  if (command !== undefined) await executeCommand(command, argument);
};
