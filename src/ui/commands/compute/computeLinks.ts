/**
 * Copy Link and Open Link…. Links come from untrusted sources: opening one reveals a compute and does nothing else. It
 * never switches the account, changes anything or sends anything to another service.
 */
import { commands, env, l10n, window } from 'vscode';
import { computeLink, isForAccount, parseComputeLink } from '../../../model/inventory/computeLink.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Command } from '../context.ts';
import { copyText } from '../input/dialogs.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { pickCompute, requireCompute } from '../input/pickers.ts';
import { askText } from '../input/quickInput.ts';

export const copyLink: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the link");
  const node = await pickCompute(context, l10n.t('Copy Link'), argument);
  const account = context.session.connection?.account;
  if (node === undefined || account === undefined) return;
  const link = computeLink(env.uriScheme, account, node);
  await copyText(link, l10n.t('Copied the link to {0}', node.computeId));
};

/** @param argument the link. Asks for it if the operating system can't open such links */
export const openLink: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open the link");
  const text = typeof argument === 'string' ? argument : await askForLink();
  if (text === undefined) return;
  const link = parseComputeLink(text);
  if (link === undefined) throw new Error(notALink());
  const { session, inventory, computesView } = context;
  // The link may have opened the window, so that the account isn't known yet.
  await session.whenRead();
  const account = session.connection?.account;
  if (account === undefined) {
    const message = l10n.t('This link opens {0}. Connect to its service first.', link.computeId);
    return offer(message, l10n.t('Connect…'), 'hostedPostgres.account.connect');
  }
  if (!isForAccount(link, account)) {
    const message = l10n.t(
      'This link opens {0} on another service ({1}). Switch to an account there, then open the link again.',
      link.computeId,
      link.service === 'local' ? l10n.t('Local service') : sanitize(link.service ?? ''),
    );
    return offer(message, l10n.t('Switch Account…'), 'hostedPostgres.account.switch');
  }
  const { projectId, computeId } = link;
  const { branch_id: branchId } = await requireCompute(context, link);
  await inventory.projects?.firstPage();
  if (inventory.projects?.entries.has(projectId) !== true) await inventory.projects?.load();
  await computesView.reveal({ kind: 'compute', projectId, branchId, computeId });
};

const askForLink = (): Promise<string | undefined> =>
  singleStep(l10n.t('Open Link'), (page) =>
    askText(page, {
      prompt: l10n.t('Link to a compute, as copied with Copy Link'),
      placeholder: 'vscode://hosted-postgres.hosted-postgres/compute?…',
      problem: (text) => (parseComputeLink(text) === undefined ? notALink() : undefined),
    }),
  );

const notALink = (): string => l10n.t("This isn't a link to a compute.");

/** Doesn't wait for the user. */
function offer(message: string, action: string, command: string): void {
  void window.showWarningMessage(message, action).then((chosen) => {
    if (chosen === action) void commands.executeCommand(command);
  });
}
