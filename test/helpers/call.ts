/** Sends one raw request, such as the client would never send, and returns the whole reply. */
import { request, type Dispatcher } from 'undici';

export interface Call {
  readonly method?: string;
  readonly path: string;
  /** Sent as JSON. Strings and bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without it, the request has no authorization header. */
  readonly key?: string | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
  /** Undefined if the reply has no body. */
  readonly json: unknown;
}

export async function call(
  baseUrl: string,
  { method = 'GET', path, body, headers, key }: Call,
): Promise<RawReply> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const reply = await request(path.startsWith('http') ? path : `${baseUrl}${path}`, {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  return {
    status: reply.statusCode,
    headers: reply.headers,
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}
