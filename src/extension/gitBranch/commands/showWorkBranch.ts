/** The menu of the status bar item: actions for the database branch of a folder. */
import { l10n, ThemeIcon, window as vscodeWindow, workspace, type Uri, type WorkspaceFolder } from 'vscode';
import { isPrimary } from '../../inventory/computeStatus.ts';
import type { BranchNode, ComputeNode } from '../../inventory/nodes.ts';
import { envVariable } from '../../envFile/ui/envFile.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { decisionText, knownBranchName } from '../ui/workBranchText.ts';
import { showAgents } from '../../agents/commands/agents.ts';
import { revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { pickFolder } from '../../connection/commands/writeEnv.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { pickGitFolder } from './gitFolder.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';
import { isSameBranch } from '../../account/refs.ts';

type Action = Choice<() => unknown>;

export const showWorkBranch: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the database branch");
  const title = l10n.t('Database Branch');
  if (workspace.workspaceFolders === undefined) return await showAgents(context);
  const folder = context.workFolders.shown?.folder ?? (await pickFolder(title));
  if (folder === undefined) return;
  const work = context.workFolders.of(folder);
  // The window may show nothing yet, or an earlier checkout.
  await work?.activate();
  const { current, decision, git } = work?.state ?? {};
  const gitBranch = sanitize(git?.branch ?? '');
  const { file, uri } = envVariable(context.config, folder);
  const placeholder =
    (decision && decisionText(decision, gitBranch)) ??
    (current === undefined
      ? l10n.t('{0} points to no known database branch', file)
      : l10n.t('{0} points to {1}', file, knownBranchName(current)));
  const actions = [...followActions(context, folder), ...actionsOfBranch(context)];
  const open = (await exists(uri))
    ? [action(l10n.t('Open {0}', file), 'go-to-file', () => vscodeWindow.showTextDocument(uri))]
    : [];
  const hasAgents = context.agentBranches.of(context.session.connection).length > 0;
  // Throws the reason.
  if (actions.length + open.length === 0 && !hasAgents)
    await pickGitFolder(context, title, { rootUri: folder.uri });
  const items = [...actions, action(l10n.t('Agents…'), 'hubot', () => showAgents(context)), ...open];
  const act = await singleStep(title, pickOne({ placeholder, items }));
  await act?.();
};

/** Actions that depend on the git branch. */
function followActions({ workFolders }: CommandContext, folder: WorkspaceFolder): Action[] {
  const work = workFolders.of(folder);
  if (work?.state.git.branch === undefined) return [];
  const { map, git, decision, current } = work.state;
  const gitBranch = sanitize(git.branch ?? '');
  const argument = { folder: folder.uri.fsPath };
  const run = (command: CommandId) => () => executeCommand(command, argument);
  const toggle = map.isFollowed
    ? action(
        l10n.t('Stop Following Git Branch'),
        'debug-pause',
        run('hostedPostgres.workBranch.stopFollowing'),
      )
    : action(l10n.t('Follow Git Branch'), 'sync', run('hostedPostgres.workBranch.follow'));
  const hasOwn = current?.isDeleted === false && isSameBranch(current, map.branches.get(git.branch ?? ''));
  return [
    ...(workFolders.notices.canUndo(work)
      ? [action(l10n.t('Undo the Switch'), 'discard', () => workFolders.notices.undo())]
      : []),
    ...(hasOwn
      ? []
      : [
          action(
            l10n.t('Create Branch for {0}', gitBranch),
            'git-branch',
            run('hostedPostgres.workBranch.create'),
          ),
        ]),
    action(
      l10n.t('Choose Branch for {0}…', gitBranch),
      'list-selection',
      run('hostedPostgres.workBranch.choose'),
    ),
    ...(decision.kind === 'keep' && decision.reason === 'byNeon' ? [] : [toggle]),
    ...(map.created.length === 0
      ? []
      : [action(l10n.t('Tidy Up Branches…'), 'clear-all', run('hostedPostgres.workBranch.tidyUp'))]),
  ];
}

/** Actions of the connected account for the branch in the file. */
function actionsOfBranch(context: CommandContext): Action[] {
  const { session, inventory, workFolders } = context;
  const current = workFolders.shown?.work.state.current;
  if (current === undefined || current.isDeleted) return [];
  const { account, projectId, branchId } = current;
  const run = (command: CommandId, argument?: BranchNode | ComputeNode) => () =>
    executeCommand(command, argument);
  if (session.connection?.accountId !== account)
    return [action(l10n.t('Switch Account…'), 'account', run('hostedPostgres.account.switch'))];
  const compute = inventory.computesOf(projectId)?.branches().get(branchId)?.find(isPrimary);
  const node: ComputeNode | undefined = compute && {
    kind: 'compute',
    projectId,
    branchId,
    computeId: compute.id,
  };
  const branch: BranchNode = { kind: 'branch', projectId, branchId };
  const reveal = () => revealRow(context, node ?? branch);
  return [
    action(l10n.t('Undo…'), 'history', run('hostedPostgres.undo', branch)),
    action(l10n.t('Compare Schema…'), 'diff', run('hostedPostgres.schema.compare', branch)),
    action(l10n.t('Show in Computes'), 'list-tree', reveal),
    ...(node === undefined
      ? []
      : [action(l10n.t('Open psql'), 'terminal', run('hostedPostgres.compute.openPsql', node))]),
  ];
}

const exists = (uri: Uri): PromiseLike<boolean> =>
  workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );

const action = (label: string, icon: string, value: () => unknown): Action => ({
  label,
  iconPath: new ThemeIcon(icon),
  value,
});
