/** The handler of each command of the table, and the only place that catches their errors. */
import { l10n } from 'vscode';
import { isCancelled } from '../api/transport/errors.ts';
import { asApiKeyNode, asBranchNode, asComputeNode, asProjectNode } from './inventory/nodes.ts';
import { SqlError } from './window/sqlError.ts';
import { showFailure } from './account/ui/notify.ts';
import * as account from './signIn/commands/account.ts';
import * as localService from './signIn/commands/startLocalService.ts';
import { deleteAgentBranches, showAgents } from './agents/commands/agents.ts';
import { copyConfiguration } from './agents/commands/copyConfiguration.ts';
import { copyInstructions } from './agents/commands/copyInstructions.ts';
import { markAccount, markProject } from './signIn/commands/mark.ts';
import * as apiKey from './signIn/commands/apiKey.ts';
import { rotate } from './signIn/commands/rotateApiKey.ts';
import * as branch from './branches/commands/branch.ts';
import { create as createBranch } from './branches/commands/createBranch.ts';
import { changeExpiry } from './branches/commands/expiry.ts';
import { compareRows } from './database/commands/compareBranchRows.ts';
import { peek } from './database/commands/peekRows.ts';
import { refreshRows } from './database/commands/refreshRows.ts';
import * as schema from './database/commands/schema.ts';
import * as compute from './computes/commands/compute.ts';
import { create as createCompute } from './computes/commands/createCompute.ts';
import { edit } from './computes/commands/editCompute.ts';
import { showDetails } from './browse/commands/showDetails.ts';
import { copyId, find, refresh, showIdsFirst, showNamesFirst } from './browse/commands/computesView.ts';
import { refreshOperations, showOperations } from './browse/commands/showOperations.ts';
import { addService } from './connection/commands/addService.ts';
import { copyAs, copyConnectionString } from './connection/commands/connectionString.ts';
import { copyHost, insertHost } from './connection/commands/copyHost.ts';
import * as inputs from './connection/commands/inputs.ts';
import { openIn } from './connection/commands/openIn.ts';
import { openPsql } from './connection/commands/psql.ts';
import { writeEnv } from './gitBranch/commands/writeEnv.ts';
import type { Command, CommandContext, Run } from './commandSupport/context.ts';
import * as project from './browse/commands/project.ts';
import { recoverProject } from './browse/commands/recoverProject.ts';
import { resetPassword } from './connection/commands/resetPassword.ts';
import { createForGitBranch } from './gitBranch/commands/createForGitBranch.ts';
import { chooseBranch, follow, stopFollowing } from './gitBranch/commands/follow.ts';
import { showWorkBranch } from './gitBranch/commands/showWorkBranch.ts';
import { tidyUp } from './gitBranch/commands/tidyUp.ts';
import { createFromTime } from './history/commands/createFromTime.ts';
import { createSnapshot } from './history/commands/createSnapshot.ts';
import * as look from './history/commands/lookAtTime.ts';
import { markMoment } from './history/commands/markMoment.ts';
import { undo } from './history/commands/undo.ts';
import { runFile } from './database/commands/runSqlFile.ts';
import type { CommandId } from './commandTable/commandTable.ts';
import type { SelectedRow } from './commandTable/menus.ts';

export const COMMANDS: Readonly<Record<CommandId, Command>> = {
  'hostedPostgres.account.connect': account.connect,
  'hostedPostgres.account.switch': account.switchAccount,
  'hostedPostgres.account.disconnect': account.disconnect,
  'hostedPostgres.account.remove': account.remove,
  'hostedPostgres.account.organization': account.chooseOrganization,
  'hostedPostgres.account.mark': markAccount,
  'hostedPostgres.project.mark': markProject,
  'hostedPostgres.agents.show': showAgents,
  'hostedPostgres.agents.copyConfiguration': copyConfiguration,
  'hostedPostgres.agents.copyInstructions': copyInstructions,
  'hostedPostgres.agents.deleteBranches': deleteAgentBranches,
  'hostedPostgres.apiKey.create': apiKey.create,
  'hostedPostgres.apiKey.revoke': apiKey.revoke,
  'hostedPostgres.apiKey.rotate': rotate,
  'hostedPostgres.branch.create': createBranch,
  'hostedPostgres.branch.createFromTime': createFromTime,
  'hostedPostgres.branch.rename': branch.rename,
  'hostedPostgres.branch.protect': branch.protect,
  'hostedPostgres.branch.unprotect': branch.unprotect,
  'hostedPostgres.branch.setDefault': branch.setDefault,
  'hostedPostgres.branch.reset': branch.reset,
  'hostedPostgres.branch.changeExpiry': changeExpiry,
  'hostedPostgres.branch.delete': branch.deleteBranch,
  'hostedPostgres.compute.create': createCompute,
  'hostedPostgres.compute.edit': edit,
  'hostedPostgres.compute.delete': compute.deleteCompute,
  'hostedPostgres.compute.find': find,
  'hostedPostgres.compute.restart': compute.restart,
  'hostedPostgres.compute.start': compute.start,
  'hostedPostgres.compute.suspend': compute.suspend,
  'hostedPostgres.compute.copyHost': copyHost,
  'hostedPostgres.compute.copyConnectionString': copyConnectionString,
  'hostedPostgres.compute.copyAs': copyAs,
  'hostedPostgres.compute.insertHost': insertHost,
  'hostedPostgres.compute.openIn': openIn,
  'hostedPostgres.compute.openPsql': openPsql,
  'hostedPostgres.connection.addService': addService,
  'hostedPostgres.connectionString.writeEnv': writeEnv,
  'hostedPostgres.details.show': showDetails,
  'hostedPostgres.input.host': inputs.inputHost,
  'hostedPostgres.input.service': inputs.inputService,
  'hostedPostgres.input.url': inputs.inputUrl,
  'hostedPostgres.localService.setUpPostgres': localService.setUpPostgres,
  'hostedPostgres.localService.start': localService.startLocal,
  'hostedPostgres.localService.stop': localService.stop,
  'hostedPostgres.log.show': ({ log }) => log.show(),
  'hostedPostgres.operations.refresh': refreshOperations,
  'hostedPostgres.operations.show': showOperations,
  'hostedPostgres.project.create': project.create,
  'hostedPostgres.project.delete': project.deleteProject,
  'hostedPostgres.project.recover': recoverProject,
  'hostedPostgres.project.rename': project.rename,
  'hostedPostgres.role.resetPassword': resetPassword,
  'hostedPostgres.row.copy': byKind({ compute: copyHost, branch: copyId, project: copyId }),
  'hostedPostgres.row.delete': byKind({
    compute: compute.deleteCompute,
    branch: branch.deleteBranch,
    project: project.deleteProject,
  }),
  'hostedPostgres.row.edit': byKind({ compute: edit, branch: branch.rename, project: project.rename }),
  'hostedPostgres.rows.compare': compareRows,
  'hostedPostgres.rows.peek': peek,
  'hostedPostgres.rows.refresh': refreshRows,
  'hostedPostgres.schema.compare': schema.compare,
  'hostedPostgres.schema.open': schema.open,
  'hostedPostgres.schema.refresh': schema.refreshSchema,
  'hostedPostgres.history.mark': markMoment,
  'hostedPostgres.history.compareRows': look.compareRows,
  'hostedPostgres.snapshot.create': createSnapshot,
  'hostedPostgres.history.openPsql': look.openPsql,
  'hostedPostgres.history.compareSchema': look.compareSchema,
  'hostedPostgres.sql.run': runFile,
  'hostedPostgres.undo': undo,
  'hostedPostgres.workBranch.choose': chooseBranch,
  'hostedPostgres.workBranch.create': createForGitBranch,
  'hostedPostgres.workBranch.follow': follow,
  'hostedPostgres.workBranch.show': showWorkBranch,
  'hostedPostgres.workBranch.stopFollowing': stopFollowing,
  'hostedPostgres.workBranch.tidyUp': tidyUp,
  'hostedPostgres.view.copyId': copyId,
  'hostedPostgres.view.refresh': refresh,
  'hostedPostgres.view.showIdsFirst': showIdsFirst,
  'hostedPostgres.view.showNamesFirst': showNamesFirst,
  'hostedPostgres.view.showMore': ({ computesView }) => computesView.showMore(),
};

/** Never rejects. */
export async function handleCommand(
  context: CommandContext,
  id: CommandId,
  argument: unknown,
): Promise<string | undefined> {
  const selected = selectionFor(context, argument);
  if (selected === undefined && argument !== undefined) return undefined;
  const { connection: initialConnection } = context.session;
  const run: Run = { failureMessage: l10n.t('The command failed'), initialConnection };
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

/**
 * A keybinding can't pass a row, so its argument in package.json names the view whose selection is used.
 * @returns undefined for a keybinding on another kind of row, such as an error
 */
function selectionFor({ computesView, apiKeysView }: CommandContext, argument: unknown): unknown {
  if (argument === ('selectedInComputes' satisfies SelectedRow)) {
    const [row] = computesView.view.selection;
    return asComputeNode(row) ?? asBranchNode(row) ?? asProjectNode(row);
  }
  return argument === ('selectedInApiKeys' satisfies SelectedRow)
    ? asApiKeyNode(apiKeysView.view.selection[0])
    : argument;
}

/** What a key does depends on the kind of the row, for which VS Code has no condition. */
function byKind(commands: Readonly<Record<'compute' | 'branch' | 'project', Command>>): Command {
  return (context, argument, run) => {
    if (asComputeNode(argument) !== undefined) return commands.compute(context, argument, run);
    if (asBranchNode(argument) !== undefined) return commands.branch(context, argument, run);
    if (asProjectNode(argument) !== undefined) return commands.project(context, argument, run);
  };
}
