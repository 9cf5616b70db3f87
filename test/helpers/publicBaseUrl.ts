import type { BaseUrl } from '../../src/api/transport/baseUrl.ts';

/** The base address of the public service. No test sends anything there. */
export const PUBLIC_BASE_URL = 'https://console.neon.tech/api/v2' as BaseUrl;
