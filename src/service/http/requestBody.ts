/** Reads a JSON body: bounded, of the right type, and checked against its record. Every fault is the client's, in words. */
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod/mini';
import { formatIssue } from '../core/formatIssue.ts';
import { HttpError, unprocessable } from '../core/httpError.ts';

/** Bytes. */
export const MAX_BODY = 1024 * 1024;

const badRequest = (message: string): HttpError => new HttpError(400, 'BAD_REQUEST', message);
const tooLarge = (): HttpError =>
  new HttpError(413, 'BODY_TOO_LARGE', `A body may have ${MAX_BODY} bytes at most.`);

export async function readBody<T>(request: IncomingMessage, schema: z.ZodMiniType<T>): Promise<T> {
  requireJsonType(request.headers['content-type'], request.headers['content-encoding']);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw tooLarge();
  return check(parse(await readBounded(request)), schema);
}

function requireJsonType(type: string | undefined, encoding: string | undefined): void {
  const isPlain = encoding === undefined || encoding === 'identity';
  if (isPlain && type?.split(';')[0]?.trim().toLowerCase() === 'application/json') return;
  throw new HttpError(
    415,
    'NOT_JSON',
    'A body must be sent with Content-Type: application/json, uncompressed.',
  );
}

/** What is beyond the bound is passed over, so that the answer that says why gets through. */
function readBounded(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    // The client hung up, so it will not see this either.
    request.once('error', () => reject(badRequest('The body ended early.')));
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    // What exactly is wrong with it would repeat the body, which may hold secrets.
    throw badRequest('The body is not JSON.');
  }
}

function check<T>(value: unknown, schema: z.ZodMiniType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw badRequest('The body is not as expected.');
  // Right type, wrong value: the request was understood and breaks a rule.
  const isRule = issue.code === 'custom' || issue.code === 'too_small' || issue.code === 'too_big';
  throw isRule ? unprocessable(formatIssue(issue)) : badRequest(formatIssue(issue));
}
