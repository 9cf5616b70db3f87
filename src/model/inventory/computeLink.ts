/** Links that lead to a compute: `vscode://hosted-postgres.hosted-postgres/compute?project=…&endpoint=…`. Pure. */
import { baseUrlOrUndefined } from '../../api/baseUrl.ts';
import { isComputeId, isId } from '../../api/records/ids.ts';
import type { Account } from '../account/accounts.ts';
import type { ComputeNode } from './nodes.ts';

/** The extension's id, which VS Code hands links over by. */
const AUTHORITY = 'hosted-postgres.hosted-postgres';
const LINK_PATH = '/compute';
const MAX_LINK_LENGTH = 2000;

export interface ComputeLink {
  readonly projectId: string;
  readonly computeId: string;
  /** The base address of the service that is meant, or `local`; undefined when the link does not say. */
  readonly service: string | undefined;
}

/** What a link says of an account: where it is, never what it is called or what its key is. */
const serviceOf = (account: Account): string => (account.local === true ? 'local' : account.baseUrl);

/** @param scheme the one this editor is reached by, such as `vscode` */
export function computeLink(
  scheme: string,
  account: Account,
  { projectId, computeId }: Pick<ComputeNode, 'projectId' | 'computeId'>,
): string {
  const query = new URLSearchParams({
    project: projectId,
    endpoint: computeId,
    service: serviceOf(account),
  });
  return `${scheme}://${AUTHORITY}${LINK_PATH}?${query.toString()}`;
}

/** @param text a whole link, from wherever it came @returns undefined for anything else */
export function parseComputeLink(text: string): ComputeLink | undefined {
  if (text.length > MAX_LINK_LENGTH || !URL.canParse(text)) return undefined;
  const { host, pathname, searchParams } = new URL(text);
  if (host.toLowerCase() !== AUTHORITY || pathname !== LINK_PATH) return undefined;
  const [projectId, computeId] = [searchParams.get('project'), searchParams.get('endpoint')];
  if (!isId(projectId) || !isComputeId(computeId)) return undefined;
  const said = searchParams.get('service');
  if (said === null) return { projectId, computeId, service: undefined };
  const service = said === 'local' ? said : baseUrlOrUndefined(said);
  return service === undefined ? undefined : { projectId, computeId, service };
}

/** Whether a link may mean something in this account. */
export const isForAccount = ({ service }: ComputeLink, account: Account): boolean =>
  service === undefined || service === serviceOf(account);
