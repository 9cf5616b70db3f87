/** Copy Connection String… and Copy As…. */
import { l10n, window } from 'vscode';
import { CONNECTION_FORMATS, formatConnection, type ConnectionFormat } from '../connectionFormats.ts';
import { connectionString } from '../connectionStrings.ts';
import { pooledHost } from '../../../api/addresses/host.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { databaseOfRow } from '../../inventory/databaseNodes.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { computeHost } from '../branchLogin.ts';
import { pickComputeRecord } from './copyHost.ts';
import { askForLogin, findOrAskPassword, type LoginRequest, type PasswordAnswer } from './login.ts';

export const copyConnectionString: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the connection string");
  const title = l10n.t('Copy Connection String');
  const compute = await pickComputeRecord(context, title, argument);
  const scope = window.activeTextEditor?.document.uri;
  const database = databaseOfRow(argument);
  const result = compute && (await askForUri(context, { title, compute, scope, database }));
  if (compute === undefined || result === undefined) return;
  const name = resourceText(context.inventory, computeNodeOf(compute));
  const announcement = result.hasPassword
    ? l10n.t('Copied the connection string of {0} with its password', name)
    : l10n.t('Copied the connection string of {0} with a placeholder for the password', name);
  await copyText(result.uri, announcement);
};

/** A connection string, which is a secret if it has a password. */
interface UriResult {
  readonly uri: string;
  readonly hasPassword: boolean;
}

/** Returns undefined if the user canceled. @throws {ApiError} if the key isn't accepted or the service isn't reachable */
export async function askForUri(
  context: CommandContext,
  request: Pick<LoginRequest, 'title' | 'compute' | 'scope' | 'database'>,
): Promise<UriResult | undefined> {
  const login = await askForLogin(context, { ...request, allowsPooled: true });
  if (login === undefined) return undefined;
  const answer = await findOrAskPassword(context, request, login);
  if (answer === undefined) return undefined;
  const host = computeHost(request.compute, login.pooled);
  return { uri: connectionString({ ...login, ...answer, host }), hasPassword: !answer.isPlaceholder };
}

export const copyConnectionAs: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the connection");
  const title = l10n.t('Copy As');
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined) return;
  const request = { title, compute, scope: window.activeTextEditor?.document.uri };
  const login = await askForLogin(context, { ...request, allowsPooled: true });
  if (login === undefined) return;
  const choice = await askForFormat(context, title);
  if (choice === undefined) return;
  const { format, hasPassword } = choice;
  const answer = hasPassword ? await findOrAskPassword(context, request, login) : undefined;
  if (hasPassword && answer === undefined) return;
  const text = formatConnection(format, {
    ...login,
    ...answer,
    host: computeHost(compute, login.pooled),
    hosts: { direct: compute.host, pooled: pooledHost(compute) },
  });
  await context.connectionDefaults.rememberFormat(formatId(choice));
  await copyText(text, copiedText(formatName(format), answer));
};

/** @param answer undefined for a format without a password */
export function copiedText(name: string, answer: PasswordAnswer | undefined): string {
  if (answer === undefined) return l10n.t('Copied {0} without a password', name);
  return answer.isPlaceholder
    ? l10n.t('Copied {0} with a placeholder for the password', name)
    : l10n.t('Copied {0} with the password', name);
}

/** Formats that put the password on a command line. */
const COMMAND_FORMATS: readonly ConnectionFormat[] = ['psql', 'docker'];

interface FormatChoice {
  readonly format: ConnectionFormat;
  readonly hasPassword: boolean;
}

const formatId = ({ format, hasPassword }: FormatChoice): string =>
  hasPassword ? format : `${format}-withoutPassword`;

/** The last choice is offered first. */
async function askForFormat(
  { connectionDefaults }: CommandContext,
  title: string,
): Promise<FormatChoice | undefined> {
  const choices = [true, false].flatMap((hasPassword) =>
    CONNECTION_FORMATS.map((format) => ({
      label: hasPassword
        ? l10n.t('{0} with password', formatName(format))
        : l10n.t('{0} without password', formatName(format)),
      description:
        hasPassword && COMMAND_FORMATS.includes(format)
          ? l10n.t('other users of the machine can see it while it runs')
          : '',
      value: { format, hasPassword },
    })),
  );
  const isLast = ({ value }: Choice<FormatChoice>) =>
    value !== undefined && formatId(value) === connectionDefaults.format;
  const items = [...choices.filter(isLast), ...choices.filter((choice) => !isLast(choice))];
  const placeholder = l10n.t('Select a format');
  return await singleStep(title, pickOne({ placeholder, items }));
}

function formatName(format: ConnectionFormat): string {
  const names: Record<ConnectionFormat, string> = {
    url: 'URL',
    psql: l10n.t('psql command'),
    libpq: l10n.t('libpq keywords'),
    jdbc: 'JDBC',
    dotnet: '.NET (Npgsql)',
    go: 'Go (pgx)',
    python: 'Python (SQLAlchemy)',
    serverless: l10n.t('Serverless driver'),
    env: 'DATABASE_URL, DATABASE_URL_UNPOOLED',
    docker: l10n.t('Docker option -e'),
  };
  return names[format];
}
