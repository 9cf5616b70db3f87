/** Links to a compute: `vscode://hosted-postgres.hosted-postgres/compute?project=…&endpoint=…`. Pure. */
import { baseUrlOrUndefined } from '../../api/baseUrl.ts';
import { isComputeId, isId } from '../../api/records/ids.ts';
import type { Account } from '../account/accounts.ts';
import type { ComputeNode } from './nodes.ts';

/** The extension's id: VS Code sends it the links that start with it. */
const AUTHORITY = 'hosted-postgres.hosted-postgres';
const LINK_PATH = '/compute';
const MAX_LINK_LENGTH = 2000;

export interface ComputeLink {
  readonly projectId: string;
  readonly computeId: string;
  /** The base address of the service, or `local`; undefined if the link has none. */
  readonly service: string | undefined;
}

/** A link contains the address of the account, never its name or key. */
const serviceOf = (account: Account): string => (account.local === true ? 'local' : account.baseUrl);

/** @param scheme of this editor, such as `vscode` */
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

/** @returns undefined if the text is not a link to a compute */
export function parseComputeLink(text: string): ComputeLink | undefined {
  if (text.length > MAX_LINK_LENGTH || !URL.canParse(text)) return undefined;
  const { host, pathname, searchParams } = new URL(text);
  if (host.toLowerCase() !== AUTHORITY || pathname !== LINK_PATH) return undefined;
  const [projectId, computeId] = [searchParams.get('project'), searchParams.get('endpoint')];
  if (!isId(projectId) || !isComputeId(computeId)) return undefined;
  const given = searchParams.get('service');
  if (given === null) return { projectId, computeId, service: undefined };
  const service = given === 'local' ? given : baseUrlOrUndefined(given);
  return service === undefined ? undefined : { projectId, computeId, service };
}

/** Whether a link may lead to a compute of this account. */
export const isForAccount = ({ service }: ComputeLink, account: Account): boolean =>
  service === undefined || service === serviceOf(account);
