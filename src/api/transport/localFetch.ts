/** `fetch` for the local service. Node's own sends requests to a proxy if the environment says so. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { directAgent, request } from '../../base/nodeHttp.ts';
import type { Fetch } from './request.ts';

/** @throws {Error} with the system's `code` */
export const localFetch: Fetch = async (url, { method, headers, body, signal }) => {
  // Each request has a connection of its own, which can't have been closed in the meantime, and which ignores the
  // environment's proxy.
  const sent = request(url, { method, headers, agent: directAgent, signal });
  // An error before the response rejects `once`, and a later one fails the reading of the response.
  sent.on('error', () => undefined);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: { get: (name) => response.headers[name]?.toString() ?? null },
    body: response,
  };
};
