/**
 * All fields of a project, branch, compute or API key, for a page and a JSON document. The records have no secrets: see
 * `records.ts`.
 */
import type { ApiKeyList } from '../signIn/apiKeys/apiKeyList.ts';
import type { Session } from '../account/session.ts';
import type { Compute, Operation } from '../../api/records/records.ts';
import { AccountSwitchedError } from '../window/changeErrors.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { nameOrId } from '../../base/sanitize.ts';
import { DETAILS_SCHEME, OPERATIONS_SCHEME } from './detailsScheme.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { documentTitle, withoutSlashes } from '../inventory/names.ts';
import {
  asApiKeyNode,
  asBranchNode,
  asComputeNode,
  asProjectNode,
  type ApiKeyNode,
  type BranchNode,
  type ComputeNode,
  type ProjectNode,
} from '../inventory/nodes.ts';

/** A row whose fields can be shown on a page. */
export type DetailsNode = ProjectNode | BranchNode | ComputeNode | ApiKeyNode;

export interface DetailsDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly apiKeys: ApiKeyList;
  /** Returns why the compute is active, in one line. */
  readonly whyActive?: (compute: Compute) => Promise<string | undefined>;
  /** The changes that haven't ended, of any resource. Each has its ids too, such as `computeId`. */
  readonly tracker: {
    readonly pending: readonly { readonly operations: readonly { readonly id: string }[] }[];
  };
}

export const asDetailsNode = (value: unknown): DetailsNode | undefined =>
  asComputeNode(value) ?? asBranchNode(value) ?? asProjectNode(value) ?? asApiKeyNode(value);

/** @param account see `accountId`: ids are unique only within one. @param title see `detailsTitle` */
export const detailsUri = (account: string, node: DetailsNode, title: string) => ({
  scheme: DETAILS_SCHEME,
  // VS Code shows the last segment as the title, and knows the format by its extension.
  path: `/${title}.md`,
  query: JSON.stringify({ account, ...node }),
});

/** Returns the path of the JSON document for the path of a page. */
export const jsonPath = (pagePath: string): string => pagePath.replace(/\.md$/, '.json');

/** Returns the URI of the log of a compute's server. VS Code highlights the log because of the extension. */
export const serverLogUri = (account: string, node: ComputeNode, title: string) => ({
  ...detailsUri(account, node, title),
  path: `/${title}.log`,
  query: JSON.stringify({ account, ...node, shows: 'log' }),
});

/** Returns the URI of a document with operations. Its last segment is the title, with an extension that shows the format. */
export const operationsUri = (account: string, node: ProjectNode | ComputeNode, title: string) => ({
  ...detailsUri(account, node, title),
  scheme: OPERATIONS_SCHEME,
  path: `/${title}.operations.md`,
});

export function parseDetailsUri({ query }: { readonly query: string }) {
  const value: unknown = JSON.parse(query);
  const { account, shows } = fieldsOf(value);
  return { account, node: asDetailsNode(value), isLog: shows === 'log' };
}

/**
 * Returns the node of a document and the connection of its account. Waits until the account has been read.
 * @throws {AccountSwitchedError} if another account is connected
 */
export async function requireDocumentNode(
  { session }: Pick<DetailsDependencies, 'session'>,
  uri: { readonly query: string },
) {
  const { account, node } = parseDetailsUri(uri);
  await session.whenRead();
  const connection = session.requireConnection();
  if (connection.accountId !== account || node === undefined) throw new AccountSwitchedError();
  return { connection, node };
}

/**
 * Returns the newest lines that the compute's server has logged.
 * @throws {Error}
 * @throws {ApiError}
 * @returns undefined if the service has none
 */
export async function readServerLog(
  deps: Pick<DetailsDependencies, 'session'>,
  uri: { readonly query: string },
): Promise<readonly string[] | undefined> {
  const { connection, node } = await requireDocumentNode(deps, uri);
  if (node.kind !== 'compute') return undefined;
  const client = await connection.client();
  return await client.findServerLog(node.projectId, node.computeId, { signal: connection.signal });
}

/** All that a page about a resource shows. */
export interface Details {
  readonly node: DetailsNode;
  /** The record as the service has sent it. */
  readonly record: object;
  /** Why a compute is active. */
  readonly activity: string | undefined;
  /** The operations in progress. */
  readonly operations: readonly Operation[];
}

/** Requests only what wasn't loaded before. @throws {Error} @throws {ApiError} @returns undefined if it no longer exists */
export async function readDetails(
  deps: DetailsDependencies,
  uri: { readonly query: string },
): Promise<Details | undefined> {
  const { node } = await requireDocumentNode(deps, uri);
  const record = await readRecord(deps, node);
  if (record === undefined) return undefined;
  const compute =
    node.kind === 'compute' ? deps.inventory.compute(node.projectId, node.computeId) : undefined;
  const activity = compute && (await deps.whyActive?.(compute));
  const operations = node.kind === 'apiKey' ? [] : await pendingOperations(deps, node);
  return { node, record, activity, operations };
}

export function detailsJson({ record, activity, operations }: Details): string {
  const shown = {
    ...record,
    ...(activity !== undefined && { activity }),
    ...(operations.length > 0 && { operations }),
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

async function readRecord(
  { inventory, apiKeys }: DetailsDependencies,
  node: DetailsNode,
): Promise<object | undefined> {
  switch (node.kind) {
    case 'project':
      await inventory.projects?.load();
      return inventory.project(node.projectId);
    case 'branch':
      await inventory.branches.ensureLoaded(node.projectId);
      return inventory.branches.get(node.projectId, node.branchId);
    case 'compute':
      await inventory.ensureComputes(node.projectId);
      return inventory.compute(node.projectId, node.computeId);
    case 'apiKey':
      await apiKeys.load();
      return apiKeys.key(node.keyId);
    default:
      return node satisfies never;
  }
}

/** Returns the operations of changes that haven't ended, as the service reports them now. */
async function pendingOperations(
  { session, tracker }: DetailsDependencies,
  node: ProjectNode | BranchNode | ComputeNode,
): Promise<readonly Operation[]> {
  const connection = session.requireConnection();
  const client = await connection.client();
  const ids = tracker.pending
    .filter((change) =>
      Object.entries(node).every(([name, id]) => name === 'kind' || fieldsOf(change)[name] === id),
    )
    .flatMap(({ operations }) => operations.map(({ id }) => id));
  const { signal } = connection;
  const found = await Promise.all(ids.map((id) => client.findOperation(node.projectId, id, { signal })));
  return found.filter((operation) => operation !== undefined);
}

/** Returns the title of a document for its tab. */
export const detailsTitle = (
  { inventory, apiKeys }: Pick<DetailsDependencies, 'inventory' | 'apiKeys'>,
  node: DetailsNode,
): string =>
  node.kind === 'apiKey'
    ? withoutSlashes(nameOrId(apiKeys.key(node.keyId)?.name, `key-${node.keyId}`))
    : documentTitle(inventory, node);
