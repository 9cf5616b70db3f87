/** The password of a role: from the service if it provides it, else from the user. It goes into the result and nowhere else. */
import { l10n, ProgressLocation } from 'vscode';
import { isPermanentRejection } from '../../../api/errors.ts';
import type { Credentials } from '../../../api/records/connectionUri.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { Login } from '../../../model/connection/connectionDefaults.ts';
import type { CommandContext } from '../context.ts';
import { copyText } from '../input/dialogs.ts';
import { runSteps, valueStep, type Answer, type Page, type Step } from '../input/multiStepInput.ts';
import { askText, pickOne, type Choice } from '../input/quickInput.ts';
import { hostOf } from './host.ts';
import { window } from '../../window.ts';

interface Target {
  readonly title: string;
  readonly compute: Compute;
}

/** @returns undefined if the service doesn't provide passwords, or not this one */
export async function findCredentials(
  { session }: CommandContext,
  { title, compute }: Target,
  login: Login,
): Promise<Credentials | undefined> {
  const { connection } = session;
  const host = hostOf(compute, login.pooled);
  const query = { ...login, computeId: compute.id, branchId: compute.branch_id, host };
  const find = async () => {
    const client = await connection?.client();
    return await client?.findCredentials(compute.project_id, query);
  };
  try {
    return await window.withProgress({ location: ProgressLocation.Window, title }, find);
  } catch (error) {
    // For example, the role doesn't exist. The user may know the password.
    if (isPermanentRejection(error)) return undefined;
    throw error;
  }
}

/** Copies the password of a role, or says that only the user knows it. */
export async function copyPassword(context: CommandContext, target: Target, login: Login): Promise<void> {
  const credentials = await findCredentials(context, target, login);
  if (credentials === undefined)
    throw new Error(l10n.t("The service doesn't provide the password of {0}", login.role));
  await copyText(credentials.password, l10n.t('Copied the password of {0}', login.role));
}

export interface PasswordAnswer extends Credentials {
  /** Whether the password is a text to be replaced. */
  readonly isPlaceholder: boolean;
}

const PLACEHOLDER = 'PASSWORD';

/** @returns undefined if the user canceled. @throws {ApiError} if the key isn't accepted or the service isn't reachable */
export async function findOrAskPassword(
  context: CommandContext,
  target: Target,
  login: Login,
): Promise<PasswordAnswer | undefined> {
  const credentials = await findCredentials(context, target, login);
  return credentials === undefined
    ? await askForPassword(target.title, login.role)
    : { ...credentials, isPlaceholder: false };
}

async function askForPassword(title: string, role: string): Promise<PasswordAnswer | undefined> {
  const state = await runSteps<PasswordState>(title, {}, passwordSteps(role));
  if (state?.source === undefined) return undefined;
  const isPlaceholder = state.source === 'placeholder';
  return { password: isPlaceholder ? PLACEHOLDER : (state.password ?? ''), isPlaceholder };
}

interface PasswordState {
  readonly source?: 'user' | 'placeholder';
  readonly password?: string;
}

const passwordSteps = (role: string): readonly Step<PasswordState>[] => [
  valueStep('source', (page) => askSource(page, role)),
  valueStep(
    'password',
    (page) => askText(page, { prompt: l10n.t('Password of {0}', role), isSecret: true, isVerbatim: true }),
    ({ source }) => source === 'user',
  ),
];

function askSource(page: Page, role: string): Promise<Answer<'user' | 'placeholder'>> {
  const items: Choice<'user' | 'placeholder'>[] = [
    { label: l10n.t('Enter the password…'), description: l10n.t('not stored'), value: 'user' },
    { label: l10n.t('Use a placeholder'), description: PLACEHOLDER, value: 'placeholder' },
  ];
  const placeholder = l10n.t("The service doesn't provide the password of {0}", role);
  return pickOne(page, { placeholder, items });
}
