/**
 * What a request must be before anything looks at it. The service is for programs on this machine: a web page must
 * not reach it, neither under a foreign name that resolves to 127.0.0.1 (DNS rebinding shows in `Host`) nor from
 * its own origin (which the browser tells in `Origin`).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../api/baseUrl.ts';
import { Refusal } from '../controlPlane/refusal.ts';

const HOST = /^(?<name>\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/;

/** @returns why the request is refused, or undefined */
export function guard(headers: IncomingHttpHeaders): Refusal | undefined {
  const name = HOST.exec(headers.host ?? '')?.groups?.['name'];
  if (name === undefined || !isLoopback(name)) {
    return new Refusal(
      403,
      'HOST_NOT_ALLOWED',
      'The Host header must name this machine: 127.0.0.1, localhost or [::1].',
    );
  }
  if (headers.origin !== undefined) {
    return new Refusal(403, 'ORIGIN_NOT_ALLOWED', 'Web pages may not call this service.');
  }
  return undefined;
}
