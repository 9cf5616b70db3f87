/**
 * The database, role and host to connect with: chosen from the lists of the branch, or entered if the service has no lists.
 * The password comes from the service if it provides one, otherwise from the user. It is only in the result.
 */
import { l10n, type Uri } from 'vscode';
import type { Credentials } from '../../../api/addresses/connectionUri.ts';
import { canLogIn } from '../../../api/passwords.ts';
import type { Compute } from '../../../api/records/records.ts';
import {
  type Login,
  type RoleAndDatabase,
  loginRoles,
  isInCatalog,
  loginChoices,
  type Catalog,
} from '../connectionDefaults.ts';
import { isLocalCompute, pooledHost } from '../../../api/addresses/host.ts';
import { loadBranchCatalog, findComputeCredentials } from '../branchLogin.ts';
import { PASSWORD_PLACEHOLDER } from '../connectionStrings.ts';
import { offersFix } from '../../window/ui/errorMessage.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { copyText, loadIfOffered } from '../../window/ui/input/dialogs.ts';
import { askInSteps, type Ask, type Question } from '../../window/ui/input/multiStepInput.ts';
import { enterText, pickOne, type Choice } from '../../window/ui/input/quickInput.ts';
import { requireCompute } from '../../commandSupport/pickers.ts';
import { poolingQuestion } from './copyHost.ts';

type LoginContext = Pick<CommandContext, 'session' | 'inventory' | 'connectionDefaults' | 'config'>;

/** What a command needs a login for. */
export interface LoginRequest {
  readonly title: string;
  readonly compute: Compute;
  /** The file whose settings give the default role and database. */
  readonly scope: Uri | undefined;
  /** Whether the caller can use a pooled connection. */
  readonly allowsPooled: boolean;
  /** The database. The user is asked for it if it isn't named. */
  readonly database?: string | undefined;
  /** Whether to take the first database instead of asking which. */
  readonly takesFirst?: boolean;
}

/**
 * Asks nothing if the branch has the named database, or only one database, role and host.
 * @returns undefined if the user canceled
 */
export async function askForLogin(context: LoginContext, request: LoginRequest): Promise<Login | undefined> {
  const catalog = await loadRolesAndDatabases(context, request);
  const pair = catalog && loginRoles(catalog).find(({ database }) => database === request.database);
  return pair === undefined ? await askWithCatalog(context, request, catalog) : { ...pair, pooled: false };
}

/**
 * Returns the role and database from the settings, the last use or the local service's defaults, with the direct host. They may
 * not exist on the branch.
 * @returns undefined if either is unknown
 */
export function proposedLogin(context: LoginContext, request: LoginRequest): Login | undefined {
  const { role, database } = proposeLogin(context, request);
  return role === '' || database === '' ? undefined : { role, database, pooled: false };
}

/**
 * Asks nothing if the proposed role and database exist on the branch, or if there is no choice. On the local service, or if
 * `takesFirst` is set, takes the first database without asking.
 * @returns undefined if the user canceled
 * @throws {ApiError} if the user can fix the cause, or if there is no proposal and the service can't be reached
 */
export async function proposedOrChosenLogin(
  context: LoginContext,
  request: LoginRequest,
): Promise<Login | undefined> {
  const proposal = proposedLogin(context, request);
  let catalog: Catalog | undefined;
  try {
    catalog = await loadRolesAndDatabases(context, request);
  } catch (error) {
    if (proposal === undefined || offersFix(error)) throw error;
  }
  if (proposal !== undefined && (catalog === undefined || isInCatalog(catalog, proposal))) return proposal;
  const [only, another] = catalog === undefined ? [] : choicesFor(context, request, catalog);
  const isClear = another === undefined || request.takesFirst === true || isLocalCompute(request.compute);
  return only !== undefined && isClear ? only : await askWithCatalog(context, request, catalog);
}

const proposeLogin = ({ connectionDefaults, config }: LoginContext, request: LoginRequest): RoleAndDatabase =>
  connectionDefaults.propose(request.compute.project_id, config.configuredLogin(request.scope));

const canBePooled = ({ allowsPooled, compute }: LoginRequest): boolean =>
  allowsPooled && pooledHost(compute) !== undefined;

const choicesFor = (context: LoginContext, request: LoginRequest, catalog: Catalog): readonly Login[] =>
  loginChoices(catalog, {
    proposed: proposeLogin(context, request),
    canBePooled: canBePooled(request),
    prefersPooled: context.connectionDefaults.prefersPooled(request.compute.project_id),
  });

/** Returns the branch's roles and databases; undefined if the service doesn't offer the lists, at all or to this key. @throws {ApiError} */
export async function loadRolesAndDatabases(
  { session }: LoginContext,
  { title, compute }: Target,
): Promise<Catalog | undefined> {
  const { connection } = session;
  const branch = computeNodeOf(compute);
  return await loadIfOffered(title, async () => connection && loadBranchCatalog(connection, branch));
}

async function askWithCatalog(
  context: LoginContext,
  request: LoginRequest,
  catalog: Catalog | undefined,
): Promise<Login | undefined> {
  if (catalog === undefined) await requireStillListed(context, request.compute);
  const choices = catalog === undefined ? [] : choicesFor(context, request, catalog);
  const [only, another] = choices;
  if (only !== undefined && another === undefined && catalog?.roles.filter(canLogIn).length === 1)
    return only;
  const login = await askInSteps(request.title, async (askNext) => {
    const choice = only === undefined ? 'separate' : await askNext(loginQuestion(choices));
    if (choice !== 'separate') return choice;
    return await askSeparately(context, request, only === undefined ? undefined : catalog, askNext);
  });
  if (login === undefined) return undefined;
  const { role, database, pooled } = login;
  // Remember the host only if the user had a choice.
  const host = canBePooled(request) ? { pooled } : {};
  await context.connectionDefaults.remember(request.compute.project_id, { role, database, ...host });
  return { role, database, pooled };
}

/** A service may lack the lists because the compute was deleted. Then the user isn't asked for names. @throws {Error} */
async function requireStillListed(
  context: LoginContext,
  { project_id: projectId, id: computeId }: Compute,
): Promise<void> {
  await context.inventory.refreshComputes(projectId);
  await requireCompute(context, { projectId, computeId });
}

function loginQuestion(choices: readonly Login[]): Question<Login | 'separate'> {
  const hasPooled = choices.some(({ pooled }) => pooled);
  const items = choices.map((login): Choice<Login | 'separate'> => {
    const host = login.pooled ? l10n.t('pooled') : l10n.t('direct');
    const parts = hasPooled ? [sanitize(login.role), host] : [sanitize(login.role)];
    return { label: sanitize(login.database), description: parts.join(' · '), value: login };
  });
  items.push({ label: l10n.t('Another role…'), value: 'separate' });
  const placeholder = l10n.t('Select a database');
  return pickOne({ placeholder, items });
}

/** Asks for the host, the role and the database one by one. The names are from the lists, or entered. */
async function askSeparately(
  context: LoginContext,
  request: LoginRequest,
  catalog: Catalog | undefined,
  askNext: Ask,
): Promise<Login> {
  const proposed = proposeLogin(context, request);
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
  const roles = catalog && names(catalog.roles.filter(canLogIn));
  const databases = catalog && names(catalog.databases);
  const pooled =
    canBePooled(request) && (await askNext(poolingQuestion(context, request.compute), { following: 2 }));
  const rolePrompt = l10n.t('Role (Postgres user) to connect as');
  const role = await askNext(nameQuestion(rolePrompt, proposed.role, roles), {
    following: 1,
  });
  const databasePrompt = l10n.t('Database to connect to');
  const database = await askNext(nameQuestion(databasePrompt, proposed.database, databases));
  return { role, database, pooled };
}

/** @param names the names to choose from; undefined if the user has to enter one */
function nameQuestion(prompt: string, value: string, names: readonly string[] | undefined): Question<string> {
  if (names === undefined) return enterText({ prompt, value });
  const items = names.map((name) => ({ label: sanitize(name), value: name, isCurrent: name === value }));
  return pickOne({ placeholder: prompt, items });
}

type Target = Pick<LoginRequest, 'title' | 'compute'>;

/** Returns the password of a login and how to use TLS; undefined if the service doesn't provide passwords, or not this one. */
export async function findCredentials(
  { session }: Pick<CommandContext, 'session'>,
  { title, compute }: Target,
  login: Login,
): Promise<Credentials | undefined> {
  const { connection } = session;
  // The service also rejects the call if, for example, the role doesn't exist. The user may still know the password.
  return await loadIfOffered(
    title,
    async () => connection && findComputeCredentials(connection, compute, login),
  );
}

/** Copies the password of a role, or reports that the service doesn't provide it. */
export async function copyPassword(context: CommandContext, target: Target, login: Login): Promise<void> {
  const credentials = await findCredentials(context, target, login);
  if (credentials === undefined)
    throw new Error(l10n.t("The service doesn't provide the password of {0}", login.role));
  await copyText(credentials.password, l10n.t('Copied the password of {0}', login.role));
}

/** The password to connect with, and how the service wants TLS. */
export interface PasswordAnswer extends Credentials {
  /** Whether the password is a placeholder that the user has to replace. */
  readonly isPlaceholder: boolean;
}

/** Returns undefined if the user canceled. @throws {ApiError} if the key isn't accepted or the service isn't reachable */
export async function findOrAskPassword(
  context: Pick<CommandContext, 'session'>,
  target: Target,
  login: Login,
): Promise<PasswordAnswer | undefined> {
  const credentials = await findCredentials(context, target, login);
  return credentials === undefined
    ? await askForPassword(target.title, login.role)
    : { ...credentials, isPlaceholder: false };
}

async function askForPassword(title: string, role: string): Promise<PasswordAnswer | undefined> {
  return await askInSteps(title, async (askNext) => {
    const source = await askNext(passwordQuestion(role));
    if (source === 'placeholder') return { password: PASSWORD_PLACEHOLDER, isPlaceholder: true };
    const question = { prompt: l10n.t('Password of {0}', role), isSecret: true, isVerbatim: true };
    const password = await askNext(enterText(question));
    return { password, isPlaceholder: false };
  });
}

function passwordQuestion(role: string): Question<'user' | 'placeholder'> {
  const items: Choice<'user' | 'placeholder'>[] = [
    { label: l10n.t('Enter the password…'), description: l10n.t('not stored'), value: 'user' },
    { label: l10n.t('Use a placeholder'), description: PASSWORD_PLACEHOLDER, value: 'placeholder' },
  ];
  const placeholder = l10n.t("The service doesn't provide the password of {0}", role);
  return pickOne({ placeholder, items });
}
