/** Open psql: runs psql in a terminal without a shell. It reads the password from a private file. */
import { env, l10n, ThemeIcon, Uri, window as vscodeWindow, type Terminal } from 'vscode';
import type { Credentials } from '../../../api/addresses/connectionUri.ts';
import { findProgram } from '../../../base/programs/findProgram.ts';
import { connectionString } from '../connectionStrings.ts';
import { isLocalCompute } from '../../../api/addresses/host.ts';
import { LIBPQ_VARIABLES, LOCAL_TLS_VARIABLES } from '../libpqVariables.ts';
import { passFileLine } from '../serviceFile.ts';
import { databaseOfRow } from '../../inventory/databaseNodes.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { offersFix } from '../../window/ui/errorMessage.ts';
import { connectionName } from '../../inventory/names.ts';
import { rememberPsql } from '../../operations/ui/openPsql.ts';
import type { Login } from '../connectionDefaults.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { noteDeletion } from '../ui/psqlTerminal.ts';
import { pickComputeRecord } from './copyHost.ts';
import {
  askForLogin,
  findCredentials,
  proposedOrChosenLogin,
  proposedLogin,
  type LoginRequest,
} from './login.ts';
import { window } from '../../window/ui/window.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';

/**
 * The variables of libpq, each as null, by which VS Code removes a variable. Otherwise PGHOSTADDR and others would send psql to
 * another server.
 */
const withoutLibpqVariables = Object.fromEntries(LIBPQ_VARIABLES.map((name) => [name, null]));

export const openPsql: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't open psql");
  const program = findPsqlOrOfferOthers(context, argument);
  if (program === undefined) return;
  const title = l10n.t('Open psql');
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined) return;
  const name = connectionName(context.inventory, compute);
  await openTerminal(context, { title, program, compute, name, database: databaseOfRow(argument) });
};

/**
 * Finds psql. If it isn't installed, shows other ways to connect.
 * @param argument the argument for the commands that are offered then
 * @returns undefined if it isn't installed
 * @throws {Error} in an untrusted workspace
 */
export function findPsqlOrOfferOthers({ config }: CommandContext, argument: unknown): string | undefined {
  requireTrust();
  const program = findPsqlProgram(config);
  if (program === undefined) void offerAlternatives(argument);
  return program;
}

export const findPsqlProgram = ({
  postgresPath,
}: Pick<CommandContext['config'], 'postgresPath'>): string | undefined =>
  findProgram('psql', postgresPath === undefined ? [] : [postgresPath]);

interface PsqlRequest extends Pick<LoginRequest, 'title' | 'compute' | 'database'> {
  readonly program: string;
  /** The name of the terminal. */
  readonly name: string;
  /** Options that each session of psql begins with, as in PGOPTIONS. */
  readonly pgOptions?: string;
}

/** Returns undefined if the user canceled. */
export async function openTerminal(
  context: CommandContext,
  { title, program, compute, database, name, pgOptions }: PsqlRequest,
): Promise<Terminal | undefined> {
  const scope = vscodeWindow.activeTextEditor?.document.uri;
  // Interactive sessions need state that a pooler in transaction mode doesn't keep.
  const found = await findLogin(context, { title, compute, scope, database, allowsPooled: false });
  if (found === undefined) return undefined;
  const { login, password, ...security } = found;
  const options = {
    name,
    iconPath: new ThemeIcon('database'),
    ...terminalProgramOptions(context, program, [
      `--dbname=${connectionString({ ...login, ...security, host: compute.host })}`,
    ]),
    env: {
      ...RUN_AS_NODE,
      ...withoutLibpqVariables,
      ...(isLocalCompute(compute) && LOCAL_TLS_VARIABLES),
      ...(pgOptions !== undefined && { PGOPTIONS: pgOptions }),
    },
  };
  // Without a password, psql asks for it.
  const terminal =
    password === undefined
      ? window.createTerminal(options)
      : context.passFiles.openTerminal(
          options,
          passFileLine({ host: compute.host, role: login.role, password }),
        );
  rememberPsql(terminal, compute.id);
  noteDeletion(context, terminal, computeNodeOf(compute));
  terminal.show();
  return terminal;
}

/** Returns the options of a terminal for psql. If psql fails, its terminal stays with the reason. */
const terminalProgramOptions = (
  { extensionUri }: CommandContext,
  program: string,
  args: readonly string[],
) => ({
  shellPath: process.execPath,
  shellArgs: [
    Uri.joinPath(extensionUri, 'dist', 'terminalProgram.js').fsPath,
    l10n.t('Press any key to close the terminal.'),
    l10n.t('The compute was deleted. This psql is no longer connected.'),
    program,
    ...args,
  ],
});

/** Lets VS Code's executable run `terminalProgram.ts` as Node would. */
const RUN_AS_NODE = { ELECTRON_RUN_AS_NODE: '1' };

type FoundLogin = Partial<Credentials> & { readonly login: Login };

/** Sends only one request if the proposed role and database exist on the branch. @returns undefined if the user canceled */
async function findLogin(context: CommandContext, request: LoginRequest): Promise<FoundLogin | undefined> {
  const named = request.database === undefined ? undefined : await askForLogin(context, request);
  if (request.database !== undefined)
    return named && { login: named, ...(await findCredentials(context, request, named)) };
  const proposal = proposedLogin(context, request);
  try {
    const credentials = proposal && (await findCredentials(context, request, proposal));
    if (proposal !== undefined && credentials !== undefined) return { login: proposal, ...credentials };
    const login = await proposedOrChosenLogin(context, request);
    return login && { login, ...(await findCredentials(context, request, login)) };
  } catch (error) {
    // The compute may be reachable even if the service isn't.
    if (proposal === undefined || offersFix(error)) throw error;
    return { login: proposal };
  }
}

/** Offers other ways to connect, and where to get psql. */
async function offerAlternatives(argument: unknown): Promise<void> {
  const openIn = l10n.t('Open In…');
  const copy = l10n.t('Copy Connection String…');
  const install = l10n.t('Get psql');
  const message = l10n.t("psql isn't installed, or isn't in the PATH that VS Code was started with.");
  const chosen = await window.showErrorMessage(message, openIn, copy, install);
  if (chosen === openIn) await executeCommand('hostedPostgres.compute.openIn', argument);
  if (chosen === copy) await executeCommand('hostedPostgres.compute.copyConnectionString', argument);
  if (chosen === install) await env.openExternal(Uri.parse('https://www.postgresql.org/download/'));
}
