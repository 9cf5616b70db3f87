/**
 * Requests to a service on this machine, by Node's own HTTP: the request itself takes about a quarter of the CPU time that it
 * takes by `fetch`. Nothing that VS Code adds to `fetch` (proxies, certificates of the system) has a part in them.
 */
import http, { type IncomingMessage } from 'node:http';
import type { Answer, Fetch, FetchInit } from './transport.ts';
import type { BaseUrl } from '../baseUrl.ts';

/** Milliseconds a connection may rest; less where the service says so. */
const LONGEST_REST = 60_000;

const agent = new http.Agent({ keepAlive: true, timeout: LONGEST_REST });

/** What to reach a service with: plain HTTP goes to this machine only (see `parseBaseUrl`). */
export const fetchFor = (baseUrl: BaseUrl): Fetch =>
  baseUrl.startsWith('http:') ? loopbackFetch : globalThis.fetch;

/** Resolves with the head of the reply, as `fetch` does. @throws the system's error, undressed */
export function loopbackFetch(url: string, init: FetchInit): Promise<Answer> {
  const { method, headers, body, signal } = init;
  // Node would connect all the same, and keep the connection for whoever comes next.
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, signal, agent });
    let isAnswered = false;
    request.on('error', reject);
    request.on('response', (message) => {
      isAnswered = true;
      resolve(answerOf(message));
    });
    // The other side may end the connection in ways that are no error to Node.
    request.on('close', () => {
      if (!isAnswered) reject(new Error('the connection was closed'));
    });
    request.end(body);
  });
}

function answerOf(message: IncomingMessage): Answer {
  const { statusCode: status = 0, headers } = message;
  const pieces: AsyncIterator<Uint8Array, undefined> = message[Symbol.asyncIterator]();
  return {
    status,
    headers: { get: (name) => headers[name]?.toString() ?? null },
    body: {
      getReader: () => ({ read: () => pieces.next() }),
      cancel: async () => void message.destroy(),
    },
  };
}
