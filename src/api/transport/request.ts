/** Sends one request and reads its whole response. A connection that breaks during the body counts as a failed attempt. */

/**
 * The parts of `globalThis.fetch` that are used. `localFetch` has only these, because loading Node's classes for the others takes
 * 20 ms.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface RequestContent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface FetchInit extends RequestContent {
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

interface FetchResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type ResponseHeaders = Pick<Headers, 'get'>;

/** A response with any status. The text of the status line is left out, because it may contain anything. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: string;
}

/** The most bytes of a reply after decompression. A list of 20,000 computes takes about 15 MB. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Thrown for a reply that is longer than {@link MAX_BODY_BYTES}. */
export class BodyTooLargeError extends Error {
  readonly status: number;

  constructor(status: number) {
    super();
    this.status = status;
  }
}

const UTF_8 = new TextDecoder();

/** Sends a request once. @throws {BodyTooLargeError}, the reason of the signal, or the error of fetch */
export async function sendOnce(
  fetch: Fetch,
  url: string,
  init: RequestContent,
  signal: AbortSignal,
): Promise<RawResponse> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    // The key must not follow a redirect to another server.
    const sent = fetch(url, { ...init, redirect: 'manual', signal });
    // VS Code's fetch ignores the signal while it looks up a proxy.
    return await Promise.race([readResponse(sent), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function readResponse(sent: Promise<FetchResponse>): Promise<RawResponse> {
  const response = await sent;
  return { status: response.status, headers: response.headers, body: await readBody(response) };
}

/** Reads a body like `text()`, but stops at the size limit. */
async function readBody({ status, body }: FetchResponse): Promise<string> {
  const stream: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) throw new BodyTooLargeError(status);
    chunks.push(chunk);
  }
  return UTF_8.decode(Buffer.concat(chunks));
}
