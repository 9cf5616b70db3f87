/**
 * Finds the branch, database and table to read, and the login for that. The user is asked before a compute of a hosted service is
 * woken.
 */
import { l10n } from 'vscode';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import type { BranchRef } from '../../account/refs.ts';
import { branchTitle, projectName } from '../../inventory/names.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { findReaderLogin } from '../../connection/branchLogin.ts';
import type { Login } from '../../connection/connectionDefaults.ts';
import { askForLogin, findOrAskPassword } from '../../connection/commands/login.ts';
import { computeStatus } from '../../inventory/computeStatus.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { AccountSwitchedError } from '../../window/changeErrors.ts';
import { withCancel } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { window } from '../../window/ui/window.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { requirePrimary } from '../../commandSupport/pickers.ts';
import type { TableName } from '../../inventory/databaseNodes.ts';
import type { RowSource } from '../rows/rowDocuments.ts';
import { tableRowSource } from '../rows/statements.ts';
import { explainReadError } from '../ui/rowsText.ts';
import { quoteName } from '../../../base/sql/quote.ts';

/** A database of a branch, with a login that can be used now. */
export interface PreparedDatabase {
  readonly branch: BranchRef;
  readonly project: string;
  readonly branchName: string;
  readonly login: BranchLogin;
}

export type PreparingContext = Pick<
  CommandContext,
  'session' | 'inventory' | 'connectionDefaults' | 'config'
>;

interface PreparingRequest {
  readonly title: string;
  readonly branch: BranchRef;
  /** The database. The user is asked for it if it isn't known. */
  readonly database?: string | undefined;
  /** Whether a compute may be woken without a question, because that is clear from the command. */
  readonly mayWake?: boolean;
  /** The default is a login to read rows. `names` is for the names of tables, and `write` is to run a file. */
  readonly purpose?: 'names' | 'write';
}

/**
 * Asks what is missing to log in to a database of a branch, and before a compute is woken.
 * @returns undefined if the user canceled
 * @throws {Error} with a message for the user
 */
export async function prepareDatabase(
  context: PreparingContext,
  { title, branch, database, mayWake = false, purpose }: PreparingRequest,
): Promise<PreparedDatabase | undefined> {
  const { session, inventory } = context;
  const connection = session.requireConnection();
  if (connection.accountId !== branch.account) throw new AccountSwitchedError();
  const { projectId, branchId } = branch;
  // An old list may show a compute as active that is suspended, or that is gone.
  await inventory.refreshComputes(projectId);
  const compute = await requirePrimary(context, branch);
  const branchName = branchTitle(branchId, inventory.branches.get(projectId, branchId));
  const status = computeStatus(compute);
  if (status === 'disabled') throw new Error(l10n.t('The compute of {0} is disabled.', branchName));
  const wakes = !connection.isLocal && status !== 'active';
  const fullName = resourceText(inventory, branch);
  if (wakes && !mayWake && !(await confirmWake(title, fullName))) return undefined;
  const request = { title, compute, scope: undefined, allowsPooled: false, database };
  const login = await askForLogin(context, request);
  if (login === undefined) return undefined;
  const target = { host: compute.host, role: login.role, database: login.database };
  const reader = purpose === 'write' ? undefined : await findReaderLogin(connection, branch, target);
  if (reader === undefined && purpose === undefined && !(await confirmOwner(context, title, branch, login)))
    return undefined;
  const found = reader ?? (await findOrAskPassword(context, request, login));
  if (found === undefined) return undefined;
  const project = projectName(inventory, projectId);
  return { branch, project, branchName, login: { ...target, ...found } };
}

/** For each window, what the user has confirmed, as JSON: account, project, role and database. */
const confirmed = new WeakMap<PreparingContext['session'], Set<string>>();

/** Asks once whether to read as the owner: without a login that only reads, code of views and policies gets the owner's rights. */
async function confirmOwner(
  { session, inventory }: PreparingContext,
  title: string,
  branch: BranchRef,
  { role, database }: Login,
): Promise<boolean> {
  const { account, projectId } = branch;
  const known = confirmed.get(session) ?? new Set();
  confirmed.set(session, known);
  const key = JSON.stringify([account, projectId, role, database]);
  if (known.has(key)) return true;
  const place = resourceText(inventory, branch);
  const question = l10n.t(
    '{0}: read the database {1} on {2} as the role {3}?',
    title,
    sanitize(database),
    place,
    sanitize(role),
  );
  const detail = l10n.t(
    'Nothing is committed. But code in the views, policies and functions of the database runs with the rights of {0}, as in psql. If others can create such code, connect as a role that only reads.',
    sanitize(role),
  );
  if (!(await window.ask(question, detail, l10n.t('Read')))) return false;
  known.add(key);
  return true;
}

async function confirmWake(title: string, branch: string): Promise<boolean> {
  const button = l10n.t('Wake and Read');
  const question = l10n.t('{0}: wake the compute of {1}?', title, branch);
  const detail = l10n.t(
    'The compute is idle. Reading starts it, and the time until it is idle again counts as usage.',
  );
  return (await window.ask(question, detail, button)) === button;
}

/** Shows progress that can be canceled. @returns undefined if it was. @throws {Error} with a message for the user */
export async function readWithProgress<T>(
  title: string,
  seconds: number,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  return await withCancel(title, async ({ signal }) => {
    try {
      return await task(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw explainReadError(error, seconds);
    }
  });
}

/** Asks for a table or view. @returns undefined if the user canceled */
export async function pickTable(title: string, { login }: PreparedDatabase): Promise<RowSource | undefined> {
  const tables = await loadTables(login);
  if (tables === undefined) return undefined;
  const items = tables.map((table) => {
    const source = rowSourceOfTable(table);
    return { label: sanitize(source.name), value: source };
  });
  const none = l10n.t('The database has no tables.');
  return await singleStep(title, pickOne({ placeholder: l10n.t('Select a table or view'), none, items }));
}

/** Shows progress that can be canceled. @returns undefined if it was. @throws {Error} with a message for the user */
async function loadTables(login: BranchLogin): Promise<readonly TableName[] | undefined> {
  const { listTables, READ_SECONDS } = await import('../rows/reading.ts');
  return await readWithProgress(l10n.t('Loading the tables'), READ_SECONDS, (signal) =>
    listTables(login, signal),
  );
}

export const rowSourceOfTable = ({ schema, name }: Pick<TableName, 'schema' | 'name'>): RowSource =>
  tableRowSource(`${quoteName(schema)}.${quoteName(name)}`);
