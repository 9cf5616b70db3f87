/** Protects the account or a project as production or read-only, by a mark in the user's settings. */
import { l10n } from 'vscode';
import type { Mark } from '../../window/marks.ts';
import { asProjectNode } from '../../inventory/nodes.ts';
import { announce } from '../../window/ui/announce.ts';
import { accountLabel } from '../../account/ui/accountLabel.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { askInSteps, singleStep, type Question } from '../../window/ui/input/multiStepInput.ts';
import { projectQuestion } from '../../commandSupport/pickers.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { projectName } from '../../inventory/names.ts';

export const markAccount: Command = async (context, _argument, run) => {
  const { account, accountId } = context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't protect the account");
  const name = accountLabel(account);
  const current = context.guards.accountMark;
  const mark = await singleStep(l10n.t('Protect Account'), markQuestion(name, current));
  if (mark !== undefined) await setMark(context, accountId, name, mark);
};

export const markProject: Command = async (context, argument, run) => {
  context.session.requireConnection();
  run.failureMessage = l10n.t("Couldn't protect the project");
  const given = asProjectNode(argument)?.projectId;
  const answers = await askInSteps(l10n.t('Protect Project'), async (ask) => {
    const projectId = given ?? (await ask(projectQuestion(context), { following: 1 }));
    const current = context.guards.projectMark(projectId);
    const mark = await ask(markQuestion(projectName(context.inventory, projectId), current));
    return { projectId, mark };
  });
  if (answers === undefined) return;
  const { projectId, mark } = answers;
  await setMark(context, projectId, projectName(context.inventory, projectId), mark);
};

/** Returns the question for a mark. The answer is null if the user wants no mark. */
function markQuestion(name: string, current: Mark | undefined): Question<Mark | null> {
  const items: Choice<Mark | null>[] = [
    {
      label: l10n.t('Production'),
      description: l10n.t('type the name to confirm each change'),
      value: 'production',
    },
    { label: l10n.t('Read-only'), description: l10n.t('blocks all changes'), value: 'readOnly' },
    { label: l10n.t('No protection'), description: l10n.t('usual confirmations'), value: null },
  ];
  return pickOne({
    placeholder: l10n.t('Select how to protect {0}', name),
    items: items.map((item) => ({ ...item, isCurrent: item.value === (current ?? null) })),
  });
}

async function setMark(
  { config }: CommandContext,
  id: string,
  name: string,
  mark: Mark | null,
): Promise<void> {
  const isMarked = config.marks[id] !== undefined;
  await config.setMark(id, mark ?? undefined);
  const texts: Record<Mark | 'none', string> = {
    production: l10n.t('{0} is protected as production', name),
    readOnly: l10n.t('{0} is protected as read-only', name),
    none: isMarked ? l10n.t('Removed the protection of {0}', name) : l10n.t('{0} has no protection', name),
  };
  announce(texts[mark ?? 'none']);
}
