/**
 * What a request must be before anything looks at it. It must be readable in one way only. And the service is for programs
 * on this machine: a web page must not reach it, neither under a foreign name that resolves to 127.0.0.1 (DNS rebinding
 * shows in `Host`) nor from its own origin (which the browser tells in `Origin`).
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../api/baseUrl.ts';
import { HttpError } from '../core/httpError.ts';

const HOST = /^(?<name>\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/;

/** Headers that the service acts on, and of which Node keeps only the first. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type']);

/** @returns why the request is refused, or undefined */
export function guard({ headers, rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined {
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined)
    return new HttpError(400, 'BAD_REQUEST', `A request may have one ${repeated} header only.`);
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new HttpError(417, 'EXPECTATION_FAILED', 'The only expectation that can be met is 100-continue.');
  if (headers.host === undefined && httpVersion === '1.1')
    return new HttpError(400, 'BAD_REQUEST', 'The Host header is missing.');
  const name = HOST.exec(headers.host ?? '')?.groups?.['name'];
  if (name === undefined || !isLoopback(name)) {
    return new HttpError(
      403,
      'HOST_NOT_ALLOWED',
      'The Host header must name this machine: 127.0.0.1, localhost or [::1].',
    );
  }
  if (headers.origin !== undefined) {
    return new HttpError(403, 'ORIGIN_NOT_ALLOWED', 'Web pages may not call this service.');
  }
  return undefined;
}

/** @param raw names and values by turns */
function repeatedHeader(raw: readonly string[]): string | undefined {
  const seen: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    if (!SINGLE.has(name)) continue;
    if (seen.includes(name)) return name;
    seen.push(name);
  }
  return undefined;
}
