/** Where the Postgres settings of a compute are opened as a document: the parts of its address. Pure. */
import { isComputeId, isId } from '../../api/records/ids.ts';
import { accountId, type Account } from '../account/accounts.ts';
import type { ComputeNode } from '../inventory/nodes.ts';

export const SETTINGS_SCHEME = 'hosted-postgres-settings';

/** The path ends in what `contributes.jsonValidation` of the manifest goes by. */
const DOCUMENT_PATH = /^\/([^/]+)\/([^/]+)\.pg_settings\.json$/;

export interface SettingsUri {
  readonly scheme: string;
  readonly path: string;
  /** The account: the same ids may mean something else in another. */
  readonly query: string;
}

/** The local service may run at another port next time, and is the same account all the same. */
const accountText = (account: Account): string => (account.local === true ? 'local' : accountId(account));

export const settingsUri = (
  account: Account,
  { projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>,
): SettingsUri => ({
  scheme: SETTINGS_SCHEME,
  path: `/${projectId}/${computeId}.pg_settings.json`,
  query: accountText(account),
});

export interface SettingsOwner {
  readonly projectId: string;
  readonly computeId: string;
}

/** @returns undefined for an address that is none of ours */
export function settingsOwner({ path }: Pick<SettingsUri, 'path'>): SettingsOwner | undefined {
  const [, projectId, computeId] = DOCUMENT_PATH.exec(path) ?? [];
  return isId(projectId) && isComputeId(computeId) ? { projectId, computeId } : undefined;
}

export const belongsToAccount = ({ query }: Pick<SettingsUri, 'query'>, account: Account): boolean =>
  query === accountText(account);
