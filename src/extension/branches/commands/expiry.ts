/** The expiry of a branch: the question, Change Expiry…, and the changes that an expiry prevents. */
import { l10n } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { Branch } from '../../../api/records/records.ts';
import type { BranchNode } from '../../inventory/nodes.ts';
import { expiryAfter } from '../expiryTime.ts';
import { branchTitle } from '../../inventory/names.ts';
import { formatDate, durationText } from '../../window/ui/timeText.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command } from '../../commandSupport/context.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import { delayItem } from '../../window/ui/input/delayItem.ts';
import { singleStep, type Question } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { window } from '../../window/ui/window.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { displayName } from '../../../base/sanitize.ts';

const DAY = 24 * 60 * 60;

/** The service accepts at most 30 days. */
const LIFETIME_LIMITS = { min: 60, max: 30 * DAY };

/** The answer is seconds from now; 0 is never. */
export function lifetimeQuestion(): Question<number> {
  const presets = [DAY, 7 * DAY, LIFETIME_LIMITS.max];
  return pickOne({
    placeholder: l10n.t('Select or type when the branch is deleted, such as 12 h or 3 days'),
    items: [
      { label: l10n.t('Never'), value: 0 },
      ...presets.map((lifetime) => ({ label: lifetimeText(lifetime), value: lifetime })),
    ],
    typed: typedLifetime,
  });
}

const lifetimeText = (lifetime: number): string => l10n.t('In {0}', durationText(lifetime));

export const typedLifetime = (text: string): Choice<number> | undefined =>
  delayItem(text, LIFETIME_LIMITS, lifetimeText);

export const changeExpiry: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't change the expiry");
  const title = l10n.t('Change Expiry');
  const picked = await pickBranch(context, title, argument);
  if (picked === undefined) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't change the expiry of {0}", fullName);
  const obstacle = expiryObstacle(picked);
  if (obstacle !== undefined) return void window.showWarningMessage(obstacle);
  // A notice that offers to keep a branch passes zero.
  const lifetime = fieldsOf(argument)['lifetime'] === 0 ? 0 : await singleStep(title, lifetimeQuestion());
  if (lifetime === undefined) return;
  const expires_at = lifetime === 0 ? null : expiryAfter(lifetime);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Change the expiry of {0}?', fullName),
    button: l10n.t('Change'),
    progress: l10n.t('Changing the expiry of {0}', fullName),
    done:
      expires_at === null
        ? l10n.t('{0} no longer expires', fullName)
        : l10n.t('{0} expires on {1}', fullName, formatDate(expires_at)),
    send: (options) => context.branchActions.update(picked, { expires_at }, options),
  });
};

/** Returns why the service would refuse an expiry; undefined if it wouldn't. */
function expiryObstacle({ branchId, fullName, branch, list }: PickedBranch): string | undefined {
  if (branch.default === true) return l10n.t("{0} is the default branch, so it can't expire.", fullName);
  if (branch.protected === true) return l10n.t("{0} is protected, so it can't expire.", fullName);
  const [child] = list.childrenOf(branchId);
  if (child === undefined) return undefined;
  const childName = displayName(child);
  return l10n.t("{0} has child branches, such as {1}, so it can't expire.", fullName, childName);
}

/**
 * The service doesn't protect a branch that expires, or make it the default or a parent. Shows a message with a button to
 * change the expiry.
 * @returns whether the branch expires
 */
export async function explainExpiry({
  projectId,
  branchId,
  branch,
}: BranchNode & { readonly branch: Branch | undefined }): Promise<boolean> {
  if (!branch?.expires_at) return false;
  const message = l10n.t(
    "{0} expires on {1}, so it can't be protected, be the default or have child branches.",
    branchTitle(branchId, branch),
    formatDate(branch.expires_at),
  );
  const button = l10n.t('Change Expiry…');
  if ((await window.showWarningMessage(message, button)) === button)
    await executeCommand('hostedPostgres.branch.changeExpiry', {
      kind: 'branch',
      projectId,
      branchId,
    });
  return true;
}
