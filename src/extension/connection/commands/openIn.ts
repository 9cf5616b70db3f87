/** Open In…: passes a connection without its password to an installed SQL client. */
import { commands, env, extensions, l10n, UIKind, Uri, window as vscodeWindow, workspace } from 'vscode';
import type { Login } from '../connectionDefaults.ts';
import { splitHost } from '../../../api/addresses/host.ts';
import { connectionString } from '../connectionStrings.ts';
import { isLocalCompute } from '../../../api/addresses/host.ts';
import { connectionName } from '../../inventory/names.ts';
import { runOrShowFailure } from '../../account/ui/notify.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { pickComputeRecord } from './copyHost.ts';
import { copyPassword, proposedOrChosenLogin, type LoginRequest } from './login.ts';
import { window } from '../../window/ui/window.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';

interface ClientConnection {
  readonly name: string;
  readonly computeId: string;
  /** The host with the port, as in the compute's record. */
  readonly host: string;
  readonly login: Login;
}

interface SqlClient {
  /** The id of the extension. */
  readonly id: string;
  readonly label: string;
  /** Returns false if the user declined. */
  readonly open: (connection: ClientConnection) => Promise<boolean>;
  /** Whether the user has to paste the connection string. */
  readonly pastes?: boolean;
}

const SQL_CLIENTS: readonly SqlClient[] = [
  { id: 'ms-ossdata.vscode-pgsql', label: 'PostgreSQL (Microsoft)', open: openInPgsql },
  { id: 'mtxr.sqltools', label: 'SQLTools', open: addToSqlTools },
  {
    id: 'cweijan.vscode-postgresql-client2',
    label: 'Database Client',
    open: openInDatabaseClient,
    pastes: true,
  },
];

export const openConnectionIn: Command = async (context, argument, run) => {
  const clients = SQL_CLIENTS.filter(({ id }) => extensions.getExtension(id) !== undefined);
  if (clients.length === 0) return void offerClients(argument);
  run.failureMessage = l10n.t("Couldn't open the SQL client");
  const title = l10n.t('Open In');
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined) return;
  const client = await pickClient(title, clients);
  if (client === undefined) return;
  const scope = vscodeWindow.activeTextEditor?.document.uri;
  const request = { title, compute, scope, allowsPooled: false };
  const login = await proposedOrChosenLogin(context, request);
  if (login === undefined) return;
  const name = `${connectionName(context.inventory, compute)} / ${sanitize(login.database)}`;
  const connection = { name, computeId: compute.id, host: compute.host, login };
  if (await client.open(connection)) void offerPassword(context, request, client, login);
};

async function pickClient(title: string, clients: readonly SqlClient[]): Promise<SqlClient | undefined> {
  if (clients.length === 1) return clients[0];
  const placeholder = l10n.t('Select a SQL client');
  const items = clients.map((client) => ({ label: client.label, value: client }));
  return await singleStep(title, pickOne({ placeholder, items }));
}

async function offerPassword(
  context: CommandContext,
  request: LoginRequest,
  { label, pastes }: SqlClient,
  login: Login,
): Promise<void> {
  const copy = l10n.t('Copy Password');
  const message =
    pastes === true
      ? l10n.t('Copied the connection string without the password. Paste it in {0}.', label)
      : l10n.t('Added the connection to {0}. Enter the password of {1} there.', label, sanitize(login.role));
  if ((await window.showInformationMessage(message, copy)) !== copy) return;
  await runOrShowFailure(context.log, l10n.t("Couldn't copy the password"), () =>
    copyPassword(context, request, login),
  );
}

/** Offers to find SQL clients, or to copy the connection. */
async function offerClients(argument: unknown): Promise<void> {
  const find = l10n.t('Find SQL Clients');
  const copy = l10n.t('Copy As…');
  const names = SQL_CLIENTS.map(({ label }) => label).join(', ');
  const message = l10n.t('No SQL client is installed. Supported are {0}.', names);
  const chosen = await window.showInformationMessage(message, find, copy);
  if (chosen === find)
    await commands.executeCommand(
      'workbench.extensions.search',
      SQL_CLIENTS.map(({ id }) => `@id:${id}`).join(' '),
    );
  if (chosen === copy) await executeCommand('hostedPostgres.compute.copyAs', argument);
}

/** Opens a connection in the client Pgsql. This client takes no password from a link, so the user enters it there. */
export async function openInPgsql({ name, host, login }: ClientConnection): Promise<boolean> {
  const server = splitHost(host);
  const values = {
    server: server.name,
    port: String(server.port),
    database: login.database,
    user: login.role,
    ...(!isLocalCompute({ host }) && { sslmode: 'require' }),
    profileName: name,
    authenticationType: 'SqlLogin',
  };
  // Encode spaces as %20, because the client may not decode `+`.
  const query = Object.entries(values)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
    .join('&');
  const link = Uri.from({
    scheme: env.uriScheme,
    authority: 'ms-ossdata.vscode-pgsql',
    path: '/connect',
    query,
  });
  // If VS Code runs in a browser, it has to translate the link to an address of its server.
  return await env.openExternal(env.uiKind === UIKind.Web ? await env.asExternalUri(link) : link);
}

/**
 * Adds the connection to SQLTools' user settings, unless they have one to the same database with the same role.
 * @returns true, because nothing is asked
 */
export async function addToSqlTools({ name, computeId, host, login }: ClientConnection): Promise<boolean> {
  const server = splitHost(host);
  const connections: unknown = workspace.getConfiguration('sqltools').get('connections');
  const target = {
    server: server.name,
    port: server.port,
    database: login.database,
    username: login.role,
  };
  if (hasEntry(connections, target)) return true;
  const connection = {
    // SQLTools rejects a name that exists, such as that of a compute on another branch.
    name: hasEntry(connections, { name }) ? `${name} ${computeId} ${sanitize(login.role)}` : name,
    driver: 'PostgreSQL',
    connectionMethod: 'Server and Port',
    ...target,
    askForPassword: true,
    ...(!isLocalCompute({ host }) && { pgOptions: { ssl: true } }),
  };
  await commands.executeCommand('sqltools.addConnection', connection, 'Global');
  return true;
}

/** Whether a list of another extension's settings has an entry with these values. */
const hasEntry = (list: unknown, values: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(list) &&
  list.some((entry: Readonly<Record<string, unknown>> | null) =>
    Object.entries(values).every(([key, value]) => entry?.[key] === value),
  );

/**
 * Copies the connection string and opens the form for a new connection. This client doesn't accept connections from other
 * extensions, but the user can paste one.
 */
async function openInDatabaseClient({ host, login }: ClientConnection): Promise<boolean> {
  await env.clipboard.writeText(connectionString({ ...login, host }));
  await commands.executeCommand('postgresql.connection.add');
  return true;
}
