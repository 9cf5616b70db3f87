/** The service's base address. It is checked before use, because the API key is sent there. */
import { isLoopback } from '../addresses/host.ts';

declare const normalized: unique symbol;
/** A checked base address without a trailing slash, such as `https://console.neon.tech/api/v2`. */
export type BaseUrl = string & { readonly [normalized]: true };

export type BaseUrlProblem = 'not-a-url' | 'not-https' | 'credentials' | 'query-or-fragment' | 'no-version';

/**
 * Checks and normalizes a base address: https (http to loopback only), no user info, query or fragment, and a
 * path ending in the version segment `v2`.
 */
export function parseBaseUrl(text: string): BaseUrl | { readonly problem: BaseUrlProblem } {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { problem: 'not-a-url' };
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return { problem: 'not-https' };
  if (url.username !== '' || url.password !== '') return { problem: 'credentials' };
  if (/[?#]/.test(text)) return { problem: 'query-or-fragment' };
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  if (!path.endsWith('/v2')) return { problem: 'no-version' };
  return `${url.origin}${path}` as BaseUrl;
}

/** Appends the path of the API to the address of a server, if it has none. */
export function completeBaseUrl(text: string): string {
  const url = URL.parse(text.trim());
  return url !== null && /^\/(api\/?)?$/.test(url.pathname) && !/[?#]/.test(text)
    ? new URL('/api/v2', url).href
    : text;
}

/**
 * Like `parseBaseUrl`, but returns undefined for an invalid address. Use this for addresses that were checked before, such as saved
 * ones and the local service's.
 */
export function baseUrlOrUndefined(text: string): BaseUrl | undefined {
  const parsed = parseBaseUrl(text);
  return typeof parsed === 'string' ? parsed : undefined;
}
