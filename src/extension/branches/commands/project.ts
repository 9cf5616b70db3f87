/** Create, change and delete projects. Not every service or key offers that. */
import { l10n } from 'vscode';
import { hasLogicalReplication } from '../projectEdit.ts';
import { asProjectNode, computeNodeOf, type ComputeNode } from '../../inventory/nodes.ts';
import { requireWritable } from '../../operations/ui/approval.ts';
import { changeTexts } from '../../operations/ui/changeText.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { projectQuestion } from '../../commandSupport/pickers.ts';
import { enterText, nameProblem } from '../../window/ui/input/quickInput.ts';
import { window } from '../../window/ui/window.ts';
import { projectName } from '../../inventory/names.ts';
import { offerRecovery } from './recoverProject.ts';

export const createProject: Command = async (context, _argument, run) => {
  const connection = context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't create the project");
  requireWritable(context.guards, {});
  const name = await singleStep(
    l10n.t('Create Project'),
    enterText({ prompt: l10n.t('Name of the new project'), problem: nameProblem }),
  );
  if (name === undefined) return;
  const organizationId = context.config.organizationOf(connection.account);
  const creation = { name, ...(organizationId === undefined ? {} : { org_id: organizationId }) };
  const created = await makeChange(context, run, {
    name: sanitize(name),
    question: l10n.t('Create the project {0}?', sanitize(name)),
    button: l10n.t('Create'),
    progress: l10n.t('Creating a project'),
    done: l10n.t('Created {0}', sanitize(name)),
    send: (options) => context.branchActions.createProject(creation, options),
  });
  if (created?.project !== undefined) await revealRow(context, { projectId: created.project.id });
};

export const renameProject: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't rename the project");
  const title = l10n.t('Rename Project');
  const projectId = await pickProject(context, title, argument);
  if (projectId === undefined) return;
  const before = projectName(context.inventory, projectId);
  run.failureMessage = l10n.t("Couldn't rename {0}", before);
  requireWritable(context.guards, { projectId });
  const value = context.inventory.project(projectId)?.name ?? '';
  const prompt = l10n.t('New name of {0}', before);
  const name = await singleStep(title, enterText({ prompt, value, problem: nameProblem }));
  if (name === undefined || name === value) return;
  await makeChange(context, run, {
    projectId,
    name: before,
    question: l10n.t('Rename the project {0}?', before),
    button: l10n.t('Rename'),
    progress: l10n.t('Renaming {0}', before),
    done: l10n.t('Renamed {0} to {1}', before, sanitize(name)),
    send: (options) => context.branchActions.renameProject(projectId, name, options),
  });
};

export const turnOnReplication: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't turn on logical replication");
  const projectId = await pickProject(context, l10n.t('Turn On Logical Replication'), argument);
  if (projectId === undefined) return;
  const name = projectName(context.inventory, projectId);
  run.failureMessage = l10n.t("Couldn't turn on logical replication of {0}", name);
  requireWritable(context.guards, { projectId });
  const project = context.inventory.project(projectId);
  if (project !== undefined && hasLogicalReplication(project))
    return void window.showInformationMessage(
      l10n.t("Logical replication of {0} is on, and can't be turned off.", name),
    );
  await makeChange(context, run, {
    projectId,
    name,
    question: l10n.t('Turn on logical replication of {0}?', name),
    detail: l10n.t(
      "It can't be turned off again. Active computes of the project are restarted, and their connections are dropped.",
    ),
    drops: computesOfProject(context, projectId),
    button: l10n.t('Turn On'),
    ...changeTexts('edit', name),
    send: (options) => context.branchActions.turnOnReplication(projectId, options),
  });
};

/** Returns the loaded computes of a project. */
const computesOfProject = ({ inventory }: CommandContext, projectId: string): readonly ComputeNode[] =>
  [...(inventory.computesOf(projectId)?.computes.values() ?? [])].map(computeNodeOf);

/** Returns undefined if the user canceled. */
const pickProject = async (
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<string | undefined> =>
  asProjectNode(argument)?.projectId ?? (await singleStep(title, projectQuestion(context)));

export const deleteProject: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't delete the project");
  const title = l10n.t('Delete Project');
  const projectId = await pickProject(context, title, argument);
  if (projectId === undefined) return;
  const name = projectName(context.inventory, projectId);
  run.failureMessage = l10n.t("Couldn't delete {0}", name);
  const { branches } = context.inventory;
  const list = await branches.refresh(projectId);
  const failure = branches.failure(projectId);
  if (failure !== undefined) throw failure;
  const kept = [...(list?.branches.values() ?? [])].find((branch) => branch.protected === true);
  if (kept !== undefined) {
    const branch = displayName(kept);
    const problem = l10n.t("{0} can't be deleted because its branch {1} is protected.", name, branch);
    return void window.showWarningMessage(problem);
  }
  const deleted = await makeChange(context, run, {
    projectId,
    name,
    question: l10n.t('Delete the project {0}?', name),
    // A local service keeps a deleted project only while the disk has enough space, and the public service keeps it for a week.
    detail: l10n.t(
      'All its branches, computes and data are deleted. It can be recovered only if the service keeps it, and only for a limited time.',
    ),
    drops: computesOfProject(context, projectId),
    reconnects: false,
    button: l10n.t('Delete'),
    byName: true,
    ...changeTexts('delete', name),
    send: (options) => context.branchActions.deleteProject(projectId, options),
  });
  if (deleted !== undefined) void offerRecovery(context, projectId, name);
};
