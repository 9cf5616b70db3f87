/** The menu of the status bar item: actions for the database branch of a folder. */
import { l10n, ThemeIcon, window as vscodeWindow, workspace, type Uri, type WorkspaceFolder } from 'vscode';
import { isPrimary } from '../../inventory/computeStatus.ts';
import type { BranchNode, ComputeNode } from '../../inventory/nodes.ts';
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { isOfOtherGitBranch } from '../envFileDecision.ts';
import { isNotConnected, type KnownBranch } from '../knownHosts.ts';
import type { WorkFolderState } from '../workFolder.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import {
  keptFileText,
  knownBranchText,
  noBranchReason,
  otherGitBranchText,
  notConnectedText,
} from '../ui/workBranchText.ts';
import { revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { projectName } from '../../inventory/names.ts';
import { pickFolder } from './writeEnv.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, listSeparator, type Choice } from '../../window/ui/input/quickInput.ts';
import { pickGitFolder } from './gitFolder.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';
import { isSameBranch } from '../../account/refs.ts';

type Action = Choice<() => unknown>;

export const showWorkBranch: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the database branch");
  const title = l10n.t('Database Branch');
  if (workspace.workspaceFolders === undefined) {
    await showAgents();
    return;
  }
  const folder = context.workFolders.shown?.folder ?? (await pickFolder(title));
  if (folder === undefined) return;
  const work = context.workFolders.of(folder);
  // The window may show nothing yet, or an earlier checkout.
  await work?.activate();
  const { file, uri } = new FolderEnv(context.config, folder);
  const open = (await fileExists(uri))
    ? [menuAction(l10n.t('Open {0}', file), 'go-to-file', () => vscodeWindow.showTextDocument(uri))]
    : [];
  const first = await branchActions(context, folder, open);
  const second = [...defaultActions(context, folder), ...gitActions(context, folder)];
  const last = otherActions(context, folder);
  const hasAgents = context.agentBranches.ofAccount(context.session.connection).length > 0;
  // Without anything to choose, this throws the reason.
  if (first.length + second.length + last.length === 0 && !hasAgents)
    await pickGitFolder(context, title, { rootUri: folder.uri });
  const agents = menuAction(l10n.t('Agents…'), 'hubot', showAgents);
  const groups = [first, second, [...last, agents]].filter((group) => group.length > 0);
  const items = groups.flatMap((group, index) => (index === 0 ? group : [listSeparator(), ...group]));
  const placeholder = placeholderText(context, work?.state, file);
  const act = await singleStep(title, pickOne({ placeholder, items }));
  await act?.();
};

function placeholderText(context: CommandContext, state: WorkFolderState | undefined, file: string): string {
  const none = noBranchReason(file);
  if (state === undefined) return none;
  if (state.current !== undefined && isNotConnected(state.current, context)) return notConnectedText();
  const gitBranch = sanitize(state.git.branch ?? '');
  const reason = keptFileText(state.decision, gitBranch);
  if (reason !== undefined) return reason;
  const { current } = state;
  if (current === undefined) return none;
  const name = knownBranchText(current);
  return isOfOtherGitBranch(state)
    ? otherGitBranchText(gitBranch, file, name)
    : l10n.t('{0} points to {1}', file, name);
}

/** Returns the usual actions for the branch that the env file points to. @param open the actions that open the file */
async function branchActions(
  context: CommandContext,
  folder: WorkspaceFolder,
  open: readonly Action[],
): Promise<readonly Action[]> {
  const { session, inventory, workFolders, config } = context;
  const current = workFolders.of(folder)?.state.current;
  if (current === undefined || current.isDeleted) return open;
  if (isNotConnected(current, context))
    return [
      menuAction(l10n.t('Start Local Service'), 'play', commandAction('hostedPostgres.localService.start')),
      ...open,
    ];
  const { account, projectId, branchId } = current;
  if (session.connection?.accountId !== account)
    return [
      ...open,
      menuAction(l10n.t('Switch Account…'), 'account', commandAction('hostedPostgres.account.switch')),
    ];
  const node = primaryOf(inventory, current);
  const { value = '' } = await new FolderEnv(config, folder).read();
  const branch: BranchNode = { kind: 'branch', projectId, branchId };
  const parent = { ...branch, baseId: 'parent', database: parseDatabaseUrl(value)?.database };
  const record = inventory.branches.get(projectId, branchId);
  const name = inventory.branches.get(projectId, record?.parent_id ?? '')?.name ?? l10n.t('Parent');
  const hasParent = record === undefined || Boolean(record.parent_id);
  return [
    ...(node === undefined
      ? []
      : [
          menuAction(l10n.t('Open psql'), 'terminal', commandAction('hostedPostgres.compute.openPsql', node)),
        ]),
    ...open,
    ...(hasParent
      ? [
          menuAction(
            l10n.t('Compare Schema with {0}', name),
            'diff',
            commandAction('hostedPostgres.schema.compare', parent),
          ),
        ]
      : []),
    menuAction(
      l10n.t('Compare Schema with…'),
      'diff',
      commandAction('hostedPostgres.schema.compare', branch),
    ),
    menuAction(l10n.t('Undo…'), 'history', commandAction('hostedPostgres.undo', branch)),
    menuAction(l10n.t('Rehearse Migration…'), 'beaker', commandAction('hostedPostgres.migration.rehearse')),
  ];
}

/** A short menu has at most this many default branches. */
const MAX_DEFAULTS = 3;

/**
 * Offers the default branches of opened projects, for a file without a database branch while the default git branch is checked
 * out.
 */
function defaultActions(context: CommandContext, folder: WorkspaceFolder): readonly Action[] {
  const { session, inventory, workFolders, guards } = context;
  const { isDefaultBranch, current } = workFolders.of(folder)?.state ?? {};
  if (isDefaultBranch !== true || current !== undefined || session.connection === undefined) return [];
  const projects = [...(inventory.projects?.entries.keys() ?? [])];
  const actions = projects.flatMap((projectId) => {
    const branch = inventory.branches.forProject(projectId)?.default;
    if (branch === undefined) return [];
    const node: BranchNode = { kind: 'branch', projectId, branchId: branch.id };
    if (guards.cachedMark(node) === 'production') return [];
    const project = projectName(inventory, projectId);
    const label = l10n.t('Use Database Branch {0} ({1})', displayName(branch), project);
    const argument = { ...node, folder: folder.uri.fsPath };
    return [menuAction(label, 'database', commandAction('hostedPostgres.workBranch.choose', argument))];
  });
  return actions.slice(0, MAX_DEFAULTS);
}

/** Actions that choose the branch for the checked-out git branch, or let the file follow it. */
function gitActions({ workFolders }: CommandContext, folder: WorkspaceFolder): readonly Action[] {
  const work = workFolders.of(folder);
  if (work?.state.git.branch === undefined) return [];
  const { map, git, decision, current } = work.state;
  const gitBranch = sanitize(git.branch ?? '');
  const inFolder = (command: CommandId) => commandAction(command, { folder: folder.uri.fsPath });
  const toggle = map.isFollowed
    ? menuAction(
        l10n.t('Stop Following Git Branch'),
        'debug-pause',
        inFolder('hostedPostgres.workBranch.stopFollowing'),
      )
    : menuAction(l10n.t('Follow Git Branch'), 'sync', inFolder('hostedPostgres.workBranch.follow'));
  const follow = decision.kind === 'keep' && decision.reason === 'byNeon' ? [] : [toggle];
  const isOther = isOfOtherGitBranch(work.state);
  const hasOwn = current?.isDeleted === false && isSameBranch(current, map.branches.get(git.branch ?? ''));
  const create = menuAction(
    l10n.t('Create Branch for {0}', gitBranch),
    'git-branch',
    inFolder('hostedPostgres.workBranch.create'),
  );
  return [
    ...(workFolders.notices.canUndo(work)
      ? [menuAction(l10n.t('Undo the Switch'), 'discard', () => workFolders.notices.undo())]
      : []),
    ...(isOther ? follow : []),
    ...(hasOwn ? [] : [create]),
    menuAction(
      l10n.t('Choose Branch for {0}…', gitBranch),
      'list-selection',
      inFolder('hostedPostgres.workBranch.choose'),
    ),
    ...(isOther ? [] : follow),
  ];
}

/** Returns the actions that are needed less often. */
function otherActions(context: CommandContext, folder: WorkspaceFolder): readonly Action[] {
  const { session, inventory, workFolders } = context;
  const { current, map } = workFolders.of(folder)?.state ?? {};
  const isHere = current?.isDeleted === false && session.connection?.accountId === current.account;
  const reveal = () => {
    if (current === undefined) return;
    const { projectId, branchId } = current;
    const branch: BranchNode = { kind: 'branch', projectId, branchId };
    return revealRow(context, primaryOf(inventory, current) ?? branch);
  };
  return [
    ...(isHere ? [menuAction(l10n.t('Show in Computes'), 'list-tree', reveal)] : []),
    ...(map === undefined || map.created.length === 0
      ? []
      : [
          menuAction(
            l10n.t('Tidy Up Branches…'),
            'clear-all',
            commandAction('hostedPostgres.workBranch.tidyUp', { folder: folder.uri.fsPath }),
          ),
        ]),
  ];
}

function primaryOf(inventory: Inventory, { projectId, branchId }: KnownBranch): ComputeNode | undefined {
  const compute = inventory.computesOf(projectId)?.branches().get(branchId)?.find(isPrimary);
  return compute && { kind: 'compute', projectId, branchId, computeId: compute.id };
}

const showAgents = () => executeCommand('hostedPostgres.agents.show');

const commandAction = (command: CommandId, argument?: object) => () => executeCommand(command, argument);

const fileExists = (uri: Uri): PromiseLike<boolean> =>
  workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );

const menuAction = (label: string, icon: string, value: () => unknown): Action => ({
  label,
  iconPath: new ThemeIcon(icon),
  value,
});
