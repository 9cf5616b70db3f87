/** `fetch` for the local service. Node's own sends requests to a proxy if the environment says so. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { request } from '../../base/nodeHttp.ts';

/** Only with a body of text. @throws {Error} with the system's `code` */
export async function localFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', headers, body, signal } = init;
  const sent = request(url, {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    // A new connection without the environment's proxy. It can't have been closed in the meantime.
    agent: false,
    ...(signal && { signal }),
  });
  sent.on('error', () => undefined); // Before the response, `once` throws it; after that, reading the response does.
  sent.end(body ?? undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers: received } = response;
  const bytes = await buffer(response);
  return new Response(bytes.length === 0 ? null : bytes, {
    status,
    headers: Object.entries(received).map(([name, value]): [string, string] => [name, String(value)]),
  });
}
