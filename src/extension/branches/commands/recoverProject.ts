/** Recover a Deleted Project…: with its branches and data, while the service keeps them. Not every service does. */
import { l10n } from 'vscode';
import type { Project } from '../../../api/records/records.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { makeChange, revealRow } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { asProjectNode } from '../../inventory/nodes.ts';
import { requireWritable } from '../../operations/ui/approval.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { timeAgo, formatDate } from '../../window/ui/timeText.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { window } from '../../window/ui/window.ts';

const projectLabel = ({ id, name }: Project): string => sanitize(name || id);

export const recoverProject: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't recover the project");
  requireWritable(context.guards, {});
  const deleted = await listDeletedProjects(context);
  if (deleted.length === 0)
    return void (await window.showInformationMessage(
      l10n.t('There is no deleted project that can be recovered.'),
    ));
  const given = asProjectNode(argument)?.projectId;
  const items = deleted.map((project) => ({
    label: projectLabel(project),
    description: l10n.t('deleted {0}', timeAgo(project.deleted_at ?? '')),
    detail: l10n.t('Can be recovered until {0}', formatDate(project.recoverable_until ?? '')),
    value: project,
  }));
  const project =
    deleted.find(({ id }) => id === given) ??
    (await singleStep(
      l10n.t('Recover a Deleted Project'),
      pickOne({ placeholder: l10n.t('Select a project'), items }),
    ));
  if (project === undefined) return;
  const name = projectLabel(project);
  run.failureMessage = l10n.t("Couldn't recover {0}", name);
  const recovered = await makeChange(context, run, {
    name,
    question: l10n.t('Recover the project {0}?', name),
    button: l10n.t('Recover'),
    progress: l10n.t('Recovering {0}', name),
    done: l10n.t('Recovered {0}', name),
    send: (options) => context.branchActions.recoverProject(project.id, options),
  });
  if (recovered !== undefined) await revealRow(context, { projectId: project.id });
};

async function listDeletedProjects({ session, config }: CommandContext): Promise<readonly Project[]> {
  const connection = session.requireConnection();
  const client = await connection.client();
  const organizationId = config.organizationOf(connection.account);
  return client.listDeletedProjects(organizationId, { signal: connection.signal });
}

/** Offers to undo a deletion, or says that the service hasn't kept the project. Never rejects. */
export async function offerRecovery(context: CommandContext, projectId: string, name: string): Promise<void> {
  try {
    const project = (await listDeletedProjects(context)).find(({ id }) => id === projectId);
    if (!project?.recoverable_until)
      return void window.showInformationMessage(
        l10n.t('Deleted {0} for good: the service keeps no copy of it.', name),
      );
    const undo = l10n.t('Undo');
    const until = formatDate(project.recoverable_until);
    const chosen = await window.showInformationMessage(
      l10n.t('Deleted {0}. It can be recovered until {1}.', name, until),
      undo,
    );
    if (chosen === undo)
      await executeCommand('hostedPostgres.project.recover', { kind: 'project', projectId });
  } catch (error) {
    context.log.error('Looking for the deleted project', error);
  }
}
