/** What is known of the public service beyond its API. */

const HOST = 'console.neon.tech';

/** Its page for keys, which start with `napi_`. Those of other services are not known. */
export const PUBLIC_KEYS_PAGE = `https://${HOST}/app/settings/api-keys`;

export const isPublicService = (baseUrl: string): boolean => baseUrl.startsWith(`https://${HOST}/`);
