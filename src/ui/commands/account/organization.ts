/** Choose Organization…: the organization whose projects the account shows. Needed for some keys of the public service. */
import { l10n } from 'vscode';
import { isId } from '../../../api/records/ids.ts';
import type { Organization } from '../../../api/records/records.ts';
import { announce } from '../../notifications/announce.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Command } from '../context.ts';
import { singleStep, type Question } from '../input/multiStepInput.ts';
import { requireConnection } from '../input/pickers.ts';
import { enterText, pickOne } from '../input/quickInput.ts';

export function organizationQuestion(organizations: readonly Organization[]): Question<string> {
  const placeholder = l10n.t('Select the organization whose projects to show');
  const items = organizations.map(({ id, name }) => ({ label: sanitize(name), description: id, value: id }));
  return pickOne({ placeholder, items });
}

export const chooseOrganization: Command = async (context, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't choose the organization");
  const connection = requireConnection(context);
  const client = await connection.client();
  const organizations = await client.findOrganizations({ signal: connection.signal });
  const question =
    organizations === undefined || organizations.length === 0
      ? organizationIdQuestion()
      : organizationQuestion(organizations);
  const chosen = await singleStep(l10n.t('Choose Organization'), question);
  if (chosen === undefined) return;
  await context.accounts.setOrganization(connection.account, chosen);
  await context.session.reread();
  const name = organizations?.find(({ id }) => id === chosen)?.name ?? chosen;
  announce(l10n.t('Showing the projects of {0}', sanitize(name)));
};

/** Asked if the service doesn't list organizations. */
const organizationIdQuestion = (): Question<string> =>
  enterText({
    prompt: l10n.t('Id of the organization, from the settings of your service'),
    placeholder: 'org-…',
    problem: (text) => (isId(text) ? undefined : l10n.t('Only a–z, 0–9 and -, at most 60 characters')),
  });
