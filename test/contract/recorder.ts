/**
 * Records what HTTP servers receive and reply, before the client sees the reply. Node loads it into the local service,
 * where it appends a line of JSON for each exchange to the file that RECORDED_EXCHANGES names.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Exchange {
  readonly method: string;
  readonly target: string;
  /** Whether the extension's client sent the request. */
  readonly isClient: boolean;
  readonly requestBody: string;
  readonly status: number;
  readonly body: string;
}

/** @param isRecorded whether a server at this port is recorded */
export function recordExchanges(
  report: (exchange: Exchange) => void,
  isRecorded: (port: number) => boolean = () => true,
): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response, socket } = message as {
      request: IncomingMessage;
      response: ServerResponse;
      socket: Socket;
    };
    if (isRecorded(socket.localPort ?? 0)) recordReply(request, response, report);
  });
}

/** The client calls `fetch` and accepts only JSON; nothing else in the tests does both. */
const isOfClient = ({ headers }: IncomingMessage): boolean =>
  headers.accept === 'application/json' && headers['sec-fetch-mode'] === 'cors';

function recordReply(
  request: IncomingMessage,
  response: ServerResponse,
  report: (exchange: Exchange) => void,
): void {
  const received: Buffer[] = [];
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, ...rest) => {
    if (chunk !== null) received.push(chunk);
    return push(chunk, ...rest);
  };
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (body?: unknown, ...rest: unknown[]) => {
    report({
      method: request.method ?? '',
      target: request.url ?? '',
      isClient: isOfClient(request),
      requestBody: Buffer.concat(received).toString(),
      status: response.statusCode,
      body: textOf(body),
    });
    return end(body, ...rest);
  };
}

const textOf = (body: unknown): string =>
  typeof body === 'string' || body instanceof Buffer ? body.toString() : '';

const file = process.env['RECORDED_EXCHANGES'];
if (file !== undefined) {
  recordExchanges((exchange) => {
    try {
      appendFileSync(file, `${JSON.stringify(exchange)}\n`);
    } catch {
      // Some tests limit the size of the service's files. It must behave as it does without a recorder.
    }
  });
}
