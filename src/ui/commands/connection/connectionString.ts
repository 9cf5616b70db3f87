/**
 * The questions behind a connection string. Its password comes from the service where the service gives it, else from
 * the user; it goes into the result and nowhere else.
 */
import { l10n, ProgressLocation, window, type QuickPickItem, type Uri } from 'vscode';
import { faultOf, isRefused } from '../../../api/errors.ts';
import type { Compute } from '../../../api/records/records.ts';
import { connectionString, pooledHost } from '../../../model/connection/connectionStrings.ts';
import type { CommandContext } from '../context.ts';
import { answered, runFlow, type Answer, type Page, type Step } from '../input/multiStepInput.ts';
import { chooseHost, hostOf } from './host.ts';
import { askText, pickOne } from '../input/quickInput.ts';

export interface Asked {
  readonly title: string;
  readonly compute: Compute;
  /** Whose settings propose role and database. */
  readonly scope: Uri | undefined;
}

export interface Login {
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
}

/** A secret if it has a password. */
export interface MadeUri {
  readonly uri: string;
  readonly hasPassword: boolean;
}

/** @returns undefined when the user gave up @throws {ApiError} when the key is refused, or the service is not reached */
export async function askForUri(context: CommandContext, asked: Asked): Promise<MadeUri | undefined> {
  const login = await askForLogin(context, asked, { canBePooled: true });
  if (login === undefined) return undefined;
  const uri = await uriOfService(context, asked, login);
  if (uri !== undefined) return { uri, hasPassword: true };
  const choice = await runFlow<Choice>(asked.title, {}, passwordSteps(login.role));
  if (choice?.how === undefined) return undefined;
  const host = hostOf(asked.compute, login.pooled);
  const password = choice.how === 'placeholder' ? PLACEHOLDER : choice.password;
  return { uri: connectionString({ ...login, host, password }), hasPassword: choice.how === 'typed' };
}

const PLACEHOLDER = 'PASSWORD';

/** @returns undefined when the user gave up */
export async function askForLogin(
  context: CommandContext,
  { title, compute, scope }: Asked,
  { canBePooled }: { readonly canBePooled: boolean },
): Promise<Login | undefined> {
  const proposed = context.connectionDefaults.propose(
    compute.project_id,
    context.config.connectionString(scope),
  );
  const problem = (text: string) => (text.trim() === '' ? l10n.t('Must not be empty') : undefined);
  const steps: Step<Partial<Login>>[] = [
    {
      applies: () => canBePooled && pooledHost(compute) !== undefined,
      ask: async (page, known) =>
        answered(await chooseHost(page, compute), (pooled) => ({ ...known, pooled })),
    },
    {
      ask: async (page, known) => {
        const prompt = l10n.t('Role: the Postgres user to connect as');
        const question = { prompt, value: proposed.role, problem };
        return answered(await askText(page, question), (role) => ({ ...known, role }));
      },
    },
    {
      ask: async (page, known) => {
        const prompt = l10n.t('Database to connect to');
        const question = { prompt, value: proposed.database, problem };
        return answered(await askText(page, question), (database) => ({ ...known, database }));
      },
    },
  ];
  const { role, database, pooled = false } = (await runFlow<Partial<Login>>(title, {}, steps)) ?? {};
  if (role === undefined || database === undefined) return undefined;
  await context.connectionDefaults.remember(compute.project_id, { role, database });
  return { role, database, pooled };
}

/** @returns undefined where the service does not tell passwords, or not this one */
export async function uriOfService(
  { session }: CommandContext,
  { title, compute }: Asked,
  login: Login,
): Promise<string | undefined> {
  const { connection } = session;
  const host = hostOf(compute, login.pooled);
  const wanted = { ...login, computeId: compute.id, branchId: compute.branch_id, host };
  const ask = async () => {
    const client = await connection?.client();
    return await client?.findConnectionUri(compute.project_id, wanted);
  };
  try {
    return await window.withProgress({ location: ProgressLocation.Window, title }, ask);
  } catch (error) {
    // Not allowed to this key, no such role, nothing to log in to: the user may know better.
    const fault = faultOf(error);
    if (fault?.kind === 'refused' && fault.status < 500 && !isRefused(error, 401, 408, 429)) return undefined;
    throw error;
  }
}

interface Choice {
  readonly how?: 'typed' | 'placeholder';
  readonly password?: string;
}

const passwordSteps = (role: string): readonly Step<Choice>[] => [
  { ask: async (page) => answered(await choosePassword(page, role), (item) => ({ how: item.how })) },
  {
    applies: ({ how }) => how === 'typed',
    ask: async (page, known) => {
      const question = { prompt: l10n.t('The password of {0}', role), isSecret: true };
      return answered(await askText(page, question), (password) => ({ ...known, password }));
    },
  },
];

interface PasswordItem extends QuickPickItem {
  readonly how: 'typed' | 'placeholder';
}

function choosePassword(page: Page, role: string): Promise<Answer<PasswordItem>> {
  const items: PasswordItem[] = [
    { label: l10n.t('Type the password…'), description: l10n.t('it is not kept'), how: 'typed' },
    { label: l10n.t('Leave a placeholder'), description: PLACEHOLDER, how: 'placeholder' },
  ];
  return pickOne(page, { placeholder: l10n.t('The service does not tell the password of {0}', role), items });
}
