/** The URI of the document with the Postgres settings of a compute. */
import { isComputeId, isId } from '../../api/records/ids.ts';
import { accountId, type Account } from '../account/accounts.ts';
import type { ComputeNode } from '../inventory/nodes.ts';

export const SETTINGS_SCHEME = 'hosted-postgres-settings';

/** `contributes.jsonValidation` in the manifest matches the end of the path. */
const DOCUMENT_PATH = /^\/([^/]+)\/([^/]+)\.pg_settings\.json$/;

export interface SettingsUri {
  readonly scheme: string;
  readonly path: string;
  /** The account, because ids are unique only within one. */
  readonly query: string;
}

export const settingsUri = (
  account: Account,
  { projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>,
): SettingsUri => ({
  scheme: SETTINGS_SCHEME,
  path: `/${projectId}/${computeId}.pg_settings.json`,
  query: accountId(account),
});

export interface SettingsOwner {
  readonly projectId: string;
  readonly computeId: string;
}

/** @returns undefined for another kind of URI */
export function settingsOwner({ path }: Pick<SettingsUri, 'path'>): SettingsOwner | undefined {
  const [, projectId, computeId] = DOCUMENT_PATH.exec(path) ?? [];
  return isId(projectId) && isComputeId(computeId) ? { projectId, computeId } : undefined;
}

export const belongsToAccount = ({ query }: Pick<SettingsUri, 'query'>, account: Account): boolean =>
  query === accountId(account);
