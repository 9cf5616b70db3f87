/** A loopback service with replies given by a test, for behavior that the local service never shows, such as failures. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { baseUrlOrUndefined, type BaseUrl } from '../../src/api/transport/baseUrl.ts';
import type { Compute } from '../../src/api/records/records.ts';
import { listen } from './listen.ts';

/** An error with the code that the service gives it. */
export class CodedError {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    this.status = status;
    this.code = code;
  }
}

/** A success with this body, as from a proxy. */
export class TextReply {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Called with a call such as `GET /projects`, and the JSON of its body. Returns the reply's JSON, or the status of an error as a number, or a
 * {@link CodedError}.
 */
export type Script = (call: string, query?: URLSearchParams, body?: unknown) => unknown;

export interface ScriptedService {
  readonly baseUrl: BaseUrl;
  /** Method and path of every request, without the query, in the order of arrival. */
  readonly requests: string[];
  /** Answers all later requests. */
  script: Script;
  /** At the end of a test it closes by itself. */
  close(): Promise<void>;
}

export async function scriptService(script: Script): Promise<ScriptedService> {
  const server = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?');
    const call = `${request.method} ${path.replace('/api/v2', '')}`;
    service.requests.push(call);
    const sent = request.method === 'GET' ? undefined : json(request).catch(() => undefined);
    void Promise.resolve(sent)
      .then((body) => service.script(call, new URLSearchParams(query), body))
      .then((answer) => {
        if (answer instanceof TextReply) return response.writeHead(200).end(answer.text);
        const { status, body } = replyOf(answer);
        return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  });
  const baseUrl = baseUrlOrUndefined(`http://127.0.0.1:${await listen(server)}/api/v2`);
  if (baseUrl === undefined) throw new Error('not a base address');
  const service: ScriptedService = {
    baseUrl,
    script,
    requests: [],
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

/**
 * Makes the service hold back its reply to the next such call, which it has at that time.
 * @returns resolves when the call has arrived, with what sends the reply
 */
export async function holdReply(service: ScriptedService, ending: string): Promise<() => void> {
  const [arrived, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { script } = service;
  service.script = (...call) => {
    const reply = structuredClone(script(...call));
    if (!call[0].endsWith(ending)) return reply;
    service.script = script;
    arrived.resolve();
    return sent.promise.then(() => reply);
  };
  await arrived.promise;
  return sent.resolve;
}

function replyOf(answer: unknown): { readonly status: number; readonly body: unknown } {
  if (typeof answer === 'number') return { status: answer, body: { message: `status ${answer}` } };
  if (!(answer instanceof CodedError)) return { status: 200, body: answer };
  const { status, code } = answer;
  return { status, body: { code, message: `${code} ${status}` } };
}

/** Creates a compute record. Tests pass only the fields that matter to them. */
export const computeRecord = (id: string, fields: Partial<Compute> = {}): Compute => ({
  id,
  host: `${id}.example.test`,
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_write',
  current_state: 'active',
  ...fields,
});

export const operationRecord = (number: number, fields: Record<string, unknown> = {}) => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  project_id: 'shop',
  branch_id: 'br-main',
  endpoint_id: 'ep-one',
  action: 'start_compute',
  status: 'running',
  failures_count: 0,
  ...fields,
});
