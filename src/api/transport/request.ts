/** Sends one request and reads its whole response. A connection that breaks during the body counts as a failed attempt. */

/** The part of `globalThis.fetch` that is used. */
export type Fetch = (url: string, init: RequestInit & { readonly signal: AbortSignal }) => Promise<Response>;

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A response with any status. The text of the status line is left out, because it may contain anything. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Bytes after decompression. A list of 20,000 computes takes about 15 MB. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

export class BodyTooLarge extends Error {
  readonly status: number;

  constructor(status: number) {
    super();
    this.status = status;
  }
}

const UTF_8 = new TextDecoder();

/** @throws {BodyTooLarge}, the reason of the signal, or the error of fetch */
export async function sendOnce(
  fetch: Fetch,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<RawResponse> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    // VS Code's fetch ignores the signal while it looks up a proxy.
    return await Promise.race([exchange(fetch, request, signal), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function exchange(
  fetch: Fetch,
  { method, url, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<RawResponse> {
  // The key must not follow a redirect to another server.
  const init: RequestInit = { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) };
  const response = await fetch(url, { ...init, signal });
  return { status: response.status, headers: response.headers, body: await readBody(response) };
}

/** Unlike `text()`, stops at the size limit. */
async function readBody({ status, headers, body }: Response): Promise<string> {
  if (Number(headers.get('content-length')) > MAX_BODY_BYTES) {
    await body?.cancel();
    throw new BodyTooLarge(status);
  }
  const stream: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) throw new BodyTooLarge(status);
    chunks.push(chunk);
  }
  return UTF_8.decode(Buffer.concat(chunks));
}
