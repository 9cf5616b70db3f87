/** What the serverless driver sends to `POST /sql`, and what it gets. */
import type { IncomingHttpHeaders } from 'node:http';
import utils from 'pg/lib/utils.js';
import * as z from 'zod/mini';

/** Of a request and of a reply. */
export const MAX_BYTES = 10 * 1024 * 1024;
/** The protocol counts parameters with 16 bits. */
const MAX_PARAMETERS = 65_535;

/** A reply with an error. The driver reads `details` only at status 400. */
export class SqlError extends Error {
  readonly status: number;
  readonly details: object;

  constructor(status: number, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

const Query = z.object({
  query: z.string(),
  params: z.optional(z.nullable(z.array(z.unknown()).check(z.maxLength(MAX_PARAMETERS)))),
  arrayMode: z.optional(z.boolean()),
});
const Body = z.union([Query, z.object({ queries: z.array(Query) })]);

export interface SqlQuery {
  readonly query: string;
  /** As Postgres gets them. */
  readonly params: readonly (string | null)[];
  readonly arrayMode: boolean | undefined;
}

export interface SqlRequest {
  readonly queries: readonly SqlQuery[];
  /** Undefined without a transaction; otherwise the statement that begins it. */
  readonly begin: string | undefined;
  readonly arrayMode: boolean;
  readonly rawText: boolean;
}

export interface Login {
  readonly user: string;
  /** A secret. */
  readonly password: string;
  readonly database: string;
  readonly options: string | undefined;
  readonly application_name: string | undefined;
}

/** @throws {SqlError} 400 */
export function readSqlRequest(headers: IncomingHttpHeaders, body: Buffer): SqlRequest {
  const parsed = Body.safeParse(parseJson(body));
  if (!parsed.success)
    throw new SqlError(400, 'the body must be {"query", "params"} or {"queries": […]} as JSON');
  const isBatch = 'queries' in parsed.data;
  return {
    queries: ('queries' in parsed.data ? parsed.data.queries : [parsed.data]).map(toText),
    begin: isBatch ? beginOf(headers) : undefined,
    arrayMode: headers['neon-array-mode'] === 'true',
    rawText: headers['neon-raw-text-output'] === 'true',
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @returns undefined if it isn't JSON. @throws {SqlError} 400 for what can't be passed on without a change */
function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new SqlError(400, 'the body is not valid UTF-8');
  }
  try {
    return JSON.parse(text, keepDigits);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : new SqlError(400, 'the body is not valid JSON');
  }
}

declare global {
  // Since Node 22, but not in the library of TypeScript.
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** As integers may be written, such as `1.0` by Python. As a parameter, Postgres takes only `1` for one. */
const INTEGER = /^-?\d+(\.0+)?(e\+?\d+)?$/i;

/** Keeps the text of other numbers, whose digits JavaScript may lose. */
const keepDigits = (_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown =>
  typeof value !== 'number' || (INTEGER.test(source) && Number.isSafeInteger(value))
    ? value
    : JSON.rawJSON(source);

function toText({ query, params, arrayMode }: z.infer<typeof Query>): SqlQuery {
  try {
    const texts = (params ?? []).map((value) => utils.prepareValue(value));
    for (const text of [query, ...texts])
      if (text?.isWellFormed() === false)
        throw new SqlError(
          400,
          'the query or a parameter has half of a surrogate pair, which is no character',
        );
    return { query, params: texts, arrayMode };
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : error;
  }
}

const tooDeep = (): SqlError => new SqlError(400, 'the parameters are nested too deeply');

/** @throws {SqlError} 400 */
export function readLogin(headers: IncomingHttpHeaders): Login {
  const header = headers['neon-connection-string'];
  if (typeof header !== 'string') throw new SqlError(400, 'the header Neon-Connection-String is missing');
  try {
    const { protocol, username, password, pathname, searchParams } = new URL(header);
    const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
    if (!/^postgres(ql)?:$/.test(protocol) || user === '' || /[\0/]/.test(database)) throw new Error();
    if (password === '') throw new SqlError(400, 'the connection string has no password');
    return {
      user,
      password: decodeURIComponent(password),
      database: database || user,
      options: searchParams.get('options') ?? undefined,
      application_name: searchParams.get('application_name') ?? undefined,
    };
  } catch (error) {
    throw error instanceof SqlError ? error : new SqlError(400, 'the connection string is not valid');
  }
}

const LEVELS: Readonly<Record<string, string>> = {
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
  Serializable: 'SERIALIZABLE',
};

function beginOf(headers: IncomingHttpHeaders): string {
  const isolation = headers['neon-batch-isolation-level'];
  const level = isolation === undefined ? '' : LEVELS[String(isolation)];
  if (level === undefined) throw new SqlError(400, `unknown isolation level: ${String(isolation)}`);
  const modes = [
    level && `ISOLATION LEVEL ${level}`,
    headers['neon-batch-read-only'] === 'true' && 'READ ONLY',
    headers['neon-batch-deferrable'] === 'true' && 'DEFERRABLE',
  ];
  return `BEGIN ${modes.filter(Boolean).join(', ')}`;
}
