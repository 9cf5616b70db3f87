/** The handler of each command of the table, and the only place that catches their errors. */
import { l10n } from 'vscode';
import { isCancelled } from '../api/transport/errors.ts';
import {
  asApiKeyNode,
  asBranchNode,
  asComputeNode,
  asProjectNode,
  asSnapshotNode,
} from './inventory/nodes.ts';
import { SqlError } from './window/sqlError.ts';
import { showFailure } from './account/ui/notify.ts';
import { window } from './window/ui/window.ts';
import {
  chooseOrganization,
  connectAccount,
  disconnectAccount,
  removeAccount,
  switchAccount,
} from './signIn/commands/account.ts';
import { setUpPostgres, startLocalService, stopLocalService } from './signIn/commands/startLocalService.ts';
import { deleteAgentBranches, showAgents } from './agents/commands/agents.ts';
import { copyConfiguration } from './agents/commands/copyConfiguration.ts';
import { copyInstructions } from './agents/commands/copyInstructions.ts';
import { markAccount, markProject } from './signIn/commands/mark.ts';
import { createApiKey, revokeApiKey } from './signIn/commands/apiKey.ts';
import { rotateApiKey } from './signIn/commands/rotateApiKey.ts';
import {
  deleteBranch,
  protectBranch,
  renameBranch,
  resetBranch,
  setDefaultBranch,
  unprotectBranch,
} from './branches/commands/branch.ts';
import { createBranch } from './branches/commands/createBranch.ts';
import { changeExpiry } from './branches/commands/expiry.ts';
import { compareBranchRows } from './database/commands/compareBranchRows.ts';
import { peekRows } from './database/commands/peekRows.ts';
import { refreshRows } from './database/commands/refreshRows.ts';
import { compareSchema, openSchema, refreshSchema } from './database/commands/schema.ts';
import { deleteCompute, restartCompute, startCompute, suspendCompute } from './computes/commands/compute.ts';
import { createCompute } from './computes/commands/createCompute.ts';
import { editCompute } from './computes/commands/editCompute.ts';
import { showDetails, showDetailsJson } from './browse/commands/showDetails.ts';
import {
  copyId,
  copyName,
  askWhatToCreate,
  openConsole,
  refreshView,
  showIdsFirst,
  showNamesFirst,
} from './browse/commands/computesView.ts';
import { findCompute } from './browse/commands/findCompute.ts';
import { refreshOperations, showOperations } from './browse/commands/showOperations.ts';
import { showServerLog } from './browse/commands/showServerLog.ts';
import { addService } from './connection/commands/addService.ts';
import { copyConnectionAs, copyConnectionString } from './connection/commands/connectionString.ts';
import { copyHost, insertHost } from './connection/commands/copyHost.ts';
import { hostForInput, serviceForInput, urlForInput } from './connection/commands/inputs.ts';
import { openConnectionIn } from './connection/commands/openIn.ts';
import { insertPassword } from './connection/commands/insertPassword.ts';
import { openPsql } from './connection/commands/psql.ts';
import { writeEnv } from './gitBranch/commands/writeEnv.ts';
import type { Command, CommandContext, CommandRun } from './commandSupport/context.ts';
import {
  createProject,
  deleteProject,
  renameProject,
  turnOnReplication,
} from './branches/commands/project.ts';
import { recoverProject } from './branches/commands/recoverProject.ts';
import { resetPassword } from './connection/commands/resetPassword.ts';
import { createForGitBranch } from './gitBranch/commands/createForGitBranch.ts';
import { chooseBranch, followGitBranch, stopFollowing } from './gitBranch/commands/follow.ts';
import { showWorkBranch } from './gitBranch/commands/showWorkBranch.ts';
import { tidyUpBranches } from './gitBranch/commands/tidyUp.ts';
import { createBranchFromTime } from './history/commands/createFromTime.ts';
import { createSnapshot } from './history/commands/createSnapshot.ts';
import { comparePastRows, comparePastSchema, openPastPsql } from './history/commands/lookAtTime.ts';
import { markMoment } from './history/commands/markMoment.ts';
import {
  createBranchFromSnapshot,
  deleteSnapshotRow,
  renameSnapshot,
  restoreSnapshotRow,
} from './history/commands/snapshotRow.ts';
import { undo } from './history/commands/undo.ts';
import { rehearseMigration } from './database/commands/rehearseMigration.ts';
import { runSqlFile } from './database/commands/runSqlFile.ts';
import type { CommandId } from './commandTable/commandTable.ts';
import type { SelectedRow } from './commandTable/menus.ts';

export { rehearseForProblems } from './database/ui/rehearsalProblems.ts';
export { reportRotation } from './signIn/commands/revokeOldKey.ts';

export const COMMANDS: Readonly<Record<CommandId, Command>> = {
  'hostedPostgres.account.connect': connectAccount,
  'hostedPostgres.account.switch': switchAccount,
  'hostedPostgres.account.disconnect': disconnectAccount,
  'hostedPostgres.account.remove': removeAccount,
  'hostedPostgres.account.organization': chooseOrganization,
  'hostedPostgres.account.mark': markAccount,
  'hostedPostgres.project.mark': markProject,
  'hostedPostgres.agents.show': showAgents,
  'hostedPostgres.agents.copyConfiguration': copyConfiguration,
  'hostedPostgres.agents.copyInstructions': copyInstructions,
  'hostedPostgres.agents.deleteBranches': deleteAgentBranches,
  'hostedPostgres.apiKey.create': createApiKey,
  'hostedPostgres.apiKey.revoke': revokeApiKey,
  'hostedPostgres.apiKey.rotate': rotateApiKey,
  'hostedPostgres.branch.create': createBranch,
  'hostedPostgres.branch.createFromTime': createBranchFromTime,
  'hostedPostgres.branch.rename': renameBranch,
  'hostedPostgres.branch.protect': protectBranch,
  'hostedPostgres.branch.unprotect': unprotectBranch,
  'hostedPostgres.branch.setDefault': setDefaultBranch,
  'hostedPostgres.branch.reset': resetBranch,
  'hostedPostgres.branch.changeExpiry': changeExpiry,
  'hostedPostgres.branch.delete': deleteBranch,
  'hostedPostgres.compute.create': createCompute,
  'hostedPostgres.compute.edit': editCompute,
  'hostedPostgres.compute.delete': deleteCompute,
  'hostedPostgres.compute.find': findCompute,
  'hostedPostgres.compute.restart': restartCompute,
  'hostedPostgres.compute.start': startCompute,
  'hostedPostgres.compute.suspend': suspendCompute,
  'hostedPostgres.compute.copyHost': copyHost,
  'hostedPostgres.compute.copyConnectionString': copyConnectionString,
  'hostedPostgres.compute.copyAs': copyConnectionAs,
  'hostedPostgres.compute.insertHost': insertHost,
  'hostedPostgres.compute.openIn': openConnectionIn,
  'hostedPostgres.compute.openPsql': openPsql,
  'hostedPostgres.compute.insertPassword': insertPassword,
  'hostedPostgres.compute.showLog': showServerLog,
  'hostedPostgres.connection.addService': addService,
  'hostedPostgres.connectionString.writeEnv': writeEnv,
  'hostedPostgres.details.show': showDetails,
  'hostedPostgres.details.showJson': showDetailsJson,
  'hostedPostgres.input.host': hostForInput,
  'hostedPostgres.input.service': serviceForInput,
  'hostedPostgres.input.url': urlForInput,
  'hostedPostgres.localService.setUpPostgres': setUpPostgres,
  'hostedPostgres.localService.start': startLocalService,
  'hostedPostgres.localService.stop': stopLocalService,
  'hostedPostgres.log.show': ({ log }) => log.show(),
  'hostedPostgres.operations.refresh': refreshOperations,
  'hostedPostgres.operations.show': showOperations,
  'hostedPostgres.project.create': createProject,
  'hostedPostgres.project.delete': deleteProject,
  'hostedPostgres.project.recover': recoverProject,
  'hostedPostgres.project.rename': renameProject,
  'hostedPostgres.project.replicate': turnOnReplication,
  'hostedPostgres.role.resetPassword': resetPassword,
  'hostedPostgres.row.copy': byKind({ compute: copyHost, branch: copyId, project: copyId, snapshot: copyId }),
  'hostedPostgres.row.copyHost': copyHost,
  'hostedPostgres.row.copyId': copyId,
  'hostedPostgres.row.delete': byKind({
    compute: deleteCompute,
    branch: deleteBranch,
    project: deleteProject,
    snapshot: deleteSnapshotRow,
  }),
  'hostedPostgres.row.edit': byKind({
    compute: editCompute,
    branch: renameBranch,
    project: renameProject,
    snapshot: renameSnapshot,
  }),
  'hostedPostgres.rows.compare': compareBranchRows,
  'hostedPostgres.rows.peek': peekRows,
  'hostedPostgres.rows.refresh': refreshRows,
  'hostedPostgres.schema.compare': compareSchema,
  'hostedPostgres.schema.open': openSchema,
  'hostedPostgres.schema.refresh': refreshSchema,
  'hostedPostgres.history.mark': markMoment,
  'hostedPostgres.history.compareRows': comparePastRows,
  'hostedPostgres.snapshot.create': createSnapshot,
  'hostedPostgres.snapshot.createBranch': createBranchFromSnapshot,
  'hostedPostgres.snapshot.delete': deleteSnapshotRow,
  'hostedPostgres.snapshot.rename': renameSnapshot,
  'hostedPostgres.snapshot.restore': restoreSnapshotRow,
  'hostedPostgres.history.openPsql': openPastPsql,
  'hostedPostgres.history.compareSchema': comparePastSchema,
  'hostedPostgres.migration.rehearse': rehearseMigration,
  'hostedPostgres.sql.run': runSqlFile,
  'hostedPostgres.undo': undo,
  'hostedPostgres.workBranch.choose': chooseBranch,
  'hostedPostgres.workBranch.create': createForGitBranch,
  'hostedPostgres.workBranch.follow': followGitBranch,
  'hostedPostgres.workBranch.show': showWorkBranch,
  'hostedPostgres.workBranch.stopFollowing': stopFollowing,
  'hostedPostgres.workBranch.tidyUp': tidyUpBranches,
  'hostedPostgres.view.create': askWhatToCreate,
  'hostedPostgres.view.copyId': copyId,
  'hostedPostgres.view.openConsole': openConsole,
  'hostedPostgres.view.copyName': copyName,
  'hostedPostgres.view.refresh': refreshView,
  'hostedPostgres.view.showIdsFirst': showIdsFirst,
  'hostedPostgres.view.showNamesFirst': showNamesFirst,
  'hostedPostgres.view.showMore': ({ computesView }) => computesView.showMore(),
};

/** Runs a command and shows its error. Never rejects. */
export async function handleCommand(
  context: CommandContext,
  id: CommandId,
  argument: unknown,
): Promise<string | undefined> {
  const selected = selectionFor(context, argument);
  if (selected === undefined && argument !== undefined) return undefined;
  const { connection: initialConnection } = context.session;
  const run: CommandRun = { failureMessage: l10n.t('The command failed'), initialConnection };
  try {
    return (await COMMANDS[id](context, selected, run)) ?? undefined;
  } catch (error) {
    if (isCancelled(error)) return undefined;
    // Messages of Postgres may contain values, so only their summary is logged.
    const logged = error instanceof SqlError ? error.summary : error;
    context.log.error(`${id} (${run.failureMessage})`, logged);
    // The message isn't awaited: callers of the command must not wait until the user closes it.
    const retry = () => void handleCommand(context, id, selected);
    const { unknownOutcome, initialConnection: { account } = {} } = run;
    void showFailure(run.failureMessage, error, retry, { unknownOutcome, account });
    return undefined;
  }
}

/** For a row that isn't known. Without the message, the command would ask which of all resources is meant. */
export function showLostRow(): void {
  void window.showInformationMessage(l10n.t('The row was being drawn again. Click it once more.'));
}

/**
 * A keybinding can't pass a row, so its argument in package.json names the view whose selection is used.
 * @returns undefined for a keybinding on another kind of row, such as an error
 */
function selectionFor({ computesView, apiKeysView }: CommandContext, argument: unknown): unknown {
  if (argument === ('selectedInComputes' satisfies SelectedRow)) {
    const [row] = computesView.view.selection;
    return asComputeNode(row) ?? asBranchNode(row) ?? asProjectNode(row) ?? asSnapshotNode(row);
  }
  return argument === ('selectedInApiKeys' satisfies SelectedRow)
    ? asApiKeyNode(apiKeysView.view.selection[0])
    : argument;
}

/** Runs the command for the kind of the selected row. A keyboard shortcut can't have a condition for that in package.json. */
function byKind(commands: Readonly<Record<'compute' | 'branch' | 'project' | 'snapshot', Command>>): Command {
  return (context, argument, run) => {
    if (asComputeNode(argument) !== undefined) return commands.compute(context, argument, run);
    if (asBranchNode(argument) !== undefined) return commands.branch(context, argument, run);
    if (asProjectNode(argument) !== undefined) return commands.project(context, argument, run);
    if (asSnapshotNode(argument) !== undefined) return commands.snapshot(context, argument, run);
  };
}
