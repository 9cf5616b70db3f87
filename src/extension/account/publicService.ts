/** What is known of the public service beyond its API. */

import type { BaseUrl } from '../../api/transport/baseUrl.ts';
import type { BranchIds } from './refs.ts';

const HOST = 'console.neon.tech';

export const PUBLIC_SERVICE = `https://${HOST}/api/v2` as BaseUrl;

/** Whether the text can only be a key of the public service, so that it must reach no other one. */
export const isPublicKey = (text: string): boolean => text.startsWith('napi_');

/** The page where users create keys of the public service. The pages of other services are not known. */
export const PUBLIC_KEYS_PAGE = `https://${HOST}/app/settings/api-keys`;

export const isPublicService = (baseUrl: string): boolean => baseUrl.startsWith(`https://${HOST}/`);

/** Returns the page of the service's console for a branch, a project or all projects. Computes are on the page of their branch. */
export function consolePage({ projectId, branchId }: Partial<BranchIds>): string {
  const branch = branchId === undefined ? [] : ['branches', branchId];
  const ids = projectId === undefined ? [] : [projectId, ...branch];
  return [`https://${HOST}/app/projects`, ...ids.map(encodeURIComponent)].join('/');
}
