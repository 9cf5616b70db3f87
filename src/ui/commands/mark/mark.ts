/** Marks the account or a project as production or read-only, in the user's settings. */
import { l10n, type QuickPickItem } from 'vscode';
import { accountId } from '../../../model/account/accounts.ts';
import type { Mark } from '../../../model/account/guards.ts';
import { asProjectNode } from '../../../model/inventory/nodes.ts';
import { announce } from '../../notifications/announce.ts';
import { accountLabel } from '../../text/accountLabel.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Command, CommandContext } from '../context.ts';
import { mapAnswer, runSteps, singleStep, type Answer, type Page } from '../input/multiStepInput.ts';
import { askProject, inProject, requireConnection } from '../input/pickers.ts';
import { pickOne } from '../input/quickInput.ts';

export const markAccount: Command = async (context, _argument, run) => {
  const { account } = requireConnection(context);
  run.failureMessage = l10n.t("Couldn't mark the account");
  const name = accountLabel(account);
  const current = context.guards.accountMark;
  const answer = await singleStep(l10n.t('Mark Account'), (page) => askMark(page, name, current));
  if (answer !== undefined) await setMark(context, accountId(account), name, answer.mark);
};

interface ProjectMark {
  readonly projectId?: string | undefined;
  readonly answer?: MarkItem;
}

export const markProject: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't mark the project");
  const nameOf = (id: string) => sanitize(context.inventory.project(id)?.name ?? id);
  const start: ProjectMark = { projectId: asProjectNode(argument)?.projectId };
  const state = await runSteps<ProjectMark>(l10n.t('Mark Project'), start, [
    {
      applies: ({ projectId }) => projectId === undefined,
      ask: async (page) => mapAnswer(await askProject(context, page), (projectId) => ({ projectId })),
    },
    {
      ask: inProject(async (page, { projectId }) => {
        const current = context.guards.projectMark(projectId);
        const picked = await askMark(page, nameOf(projectId), current);
        return mapAnswer(picked, (answer) => ({ projectId, answer }));
      }),
    },
  ]);
  const { projectId, answer } = state ?? {};
  if (projectId === undefined || answer === undefined) return;
  await setMark(context, projectId, nameOf(projectId), answer.mark);
};

interface MarkItem extends QuickPickItem {
  readonly mark: Mark | undefined;
}

function askMark(page: Page, name: string, current: Mark | undefined): Promise<Answer<MarkItem>> {
  const items: MarkItem[] = [
    {
      label: l10n.t('Production'),
      description: l10n.t('type the name to confirm each change'),
      mark: 'production',
    },
    { label: l10n.t('Read-only'), description: l10n.t('blocks all changes'), mark: 'readOnly' },
    { label: l10n.t('No mark'), description: l10n.t('usual confirmations'), mark: undefined },
  ];
  const isCurrent = ({ mark }: MarkItem) => mark === current;
  return pickOne(page, { placeholder: l10n.t('Select how to protect {0}', name), items, isCurrent });
}

async function setMark(
  { config }: CommandContext,
  of: string,
  name: string,
  mark: Mark | undefined,
): Promise<void> {
  await config.setMark(of, mark);
  announce(markedText(name, mark));
}

function markedText(name: string, mark: Mark | undefined): string {
  switch (mark) {
    case 'production':
      return l10n.t('Marked {0} as production', name);
    case 'readOnly':
      return l10n.t('Marked {0} as read-only', name);
    case undefined:
      return l10n.t('Removed the mark of {0}', name);
    default:
      return mark satisfies never;
  }
}
