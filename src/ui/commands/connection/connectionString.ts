/**
 * Copy Connection String…, and the questions for a connection string. The password comes from the service if it provides it, or else from the user. It
 * goes into the result and nowhere else.
 */
import { l10n, ProgressLocation, window, type QuickPickItem, type Uri } from 'vscode';
import { faultOf, isRefused } from '../../../api/errors.ts';
import type { Compute } from '../../../api/records/records.ts';
import { connectionString, pooledHost } from '../../../model/connection/connectionStrings.ts';
import type { Command, CommandContext } from '../context.ts';
import { copyText } from '../input/dialogs.ts';
import { mapAnswer, runSteps, type Answer, type Page, type Step } from '../input/multiStepInput.ts';
import { askText, pickOne } from '../input/quickInput.ts';
import { askPooled, hostOf, pickRecord } from './host.ts';

export const copyConnectionString: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the connection string");
  const title = l10n.t('Copy Connection String');
  const compute = await pickRecord(context, title, argument);
  const scope = window.activeTextEditor?.document.uri;
  const result = compute && (await askForUri(context, { title, compute, scope }));
  if (result === undefined) return;
  const announcement = result.hasPassword
    ? l10n.t('Copied the connection string with its password')
    : l10n.t('Copied the connection string with a placeholder for the password');
  await copyText(result.uri, announcement);
};

export interface UriRequest {
  readonly title: string;
  readonly compute: Compute;
  /** The file whose settings give the default role and database. */
  readonly scope: Uri | undefined;
}

export interface Login {
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
}

/** A secret if it has a password. */
export interface UriResult {
  readonly uri: string;
  readonly hasPassword: boolean;
}

/** @returns undefined if the user canceled. @throws {ApiError} if the key isn't accepted or the service isn't reachable */
export async function askForUri(
  context: CommandContext,
  request: UriRequest,
): Promise<UriResult | undefined> {
  const login = await askForLogin(context, request, { canBePooled: true });
  if (login === undefined) return undefined;
  const uri = await findUri(context, request, login);
  if (uri !== undefined) return { uri, hasPassword: true };
  const state = await runSteps<PasswordState>(request.title, {}, passwordSteps(login.role));
  if (state?.source === undefined) return undefined;
  const host = hostOf(request.compute, login.pooled);
  const password = state.source === 'placeholder' ? PLACEHOLDER : state.password;
  return { uri: connectionString({ ...login, host, password }), hasPassword: state.source === 'user' };
}

const PLACEHOLDER = 'PASSWORD';

/** @returns undefined if the user canceled */
export async function askForLogin(
  context: CommandContext,
  { title, compute, scope }: UriRequest,
  { canBePooled }: { readonly canBePooled: boolean },
): Promise<Login | undefined> {
  const proposed = context.connectionDefaults.propose(
    compute.project_id,
    context.config.connectionString(scope),
  );
  const steps: Step<Partial<Login>>[] = [
    {
      applies: () => canBePooled && pooledHost(compute) !== undefined,
      ask: async (page, state) =>
        mapAnswer(await askPooled(page, compute), (pooled) => ({ ...state, pooled })),
    },
    {
      ask: async (page, state) => {
        const question = { prompt: l10n.t('Role (Postgres user) to connect as'), value: proposed.role };
        return mapAnswer(await askText(page, question), (role) => ({ ...state, role }));
      },
    },
    {
      ask: async (page, state) => {
        const question = { prompt: l10n.t('Database to connect to'), value: proposed.database };
        return mapAnswer(await askText(page, question), (database) => ({ ...state, database }));
      },
    },
  ];
  const { role, database, pooled = false } = (await runSteps<Partial<Login>>(title, {}, steps)) ?? {};
  if (role === undefined || database === undefined) return undefined;
  await context.connectionDefaults.remember(compute.project_id, { role, database });
  return { role, database, pooled };
}

/** @returns undefined if the service doesn't provide passwords, or not this one */
export async function findUri(
  { session }: CommandContext,
  { title, compute }: UriRequest,
  login: Login,
): Promise<string | undefined> {
  const { connection } = session;
  const host = hostOf(compute, login.pooled);
  const query = { ...login, computeId: compute.id, branchId: compute.branch_id, host };
  const find = async () => {
    const client = await connection?.client();
    return await client?.findConnectionUri(compute.project_id, query);
  };
  try {
    return await window.withProgress({ location: ProgressLocation.Window, title }, find);
  } catch (error) {
    // For example, the key may not read passwords or the role doesn't exist. The user may know the password.
    const fault = faultOf(error);
    if (fault?.kind === 'refused' && fault.status < 500 && !isRefused(error, 401, 408, 429)) return undefined;
    throw error;
  }
}

interface PasswordState {
  readonly source?: 'user' | 'placeholder';
  readonly password?: string;
}

const passwordSteps = (role: string): readonly Step<PasswordState>[] => [
  { ask: async (page) => mapAnswer(await askSource(page, role), ({ source }) => ({ source })) },
  {
    applies: ({ source }) => source === 'user',
    ask: async (page, state) => {
      const question = { prompt: l10n.t('Password of {0}', role), isSecret: true, isVerbatim: true };
      return mapAnswer(await askText(page, question), (password) => ({ ...state, password }));
    },
  },
];

interface SourceItem extends QuickPickItem {
  readonly source: 'user' | 'placeholder';
}

function askSource(page: Page, role: string): Promise<Answer<SourceItem>> {
  const items: SourceItem[] = [
    { label: l10n.t('Enter the password…'), description: l10n.t('not stored'), source: 'user' },
    { label: l10n.t('Use a placeholder'), description: PLACEHOLDER, source: 'placeholder' },
  ];
  const placeholder = l10n.t("The service doesn't provide the password of {0}", role);
  return pickOne(page, { placeholder, items });
}
