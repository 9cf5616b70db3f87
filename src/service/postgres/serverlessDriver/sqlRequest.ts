/** What the serverless driver sends to `POST /sql`, and what it gets. */
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod/mini';
import { parseJsonBytes } from '../../core/parseJson.ts';
import { readParameters } from './sqlParameters.ts';

/** The limit for a request and for a reply, in bytes. */
export const MAX_SQL_BYTES = 10 * 1024 * 1024;
/** The protocol counts parameters with 16 bits. */
const MAX_PARAMETERS = 65_535;

/** A reply with an error. The driver reads `details` only at status 400. */
export class HttpSqlError extends Error {
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

/** A statement with its parameters. */
export interface SqlQuery {
  readonly query: string;
  /** The parameters as Postgres gets them. */
  readonly params: readonly (string | null)[];
  readonly arrayMode: boolean | undefined;
}

/** The statements of a request, and how the reply is to look. */
export interface HttpSqlRequest {
  readonly queries: readonly SqlQuery[];
  /** Undefined without a transaction; otherwise the statement that begins it. */
  readonly begin: string | undefined;
  readonly arrayMode: boolean;
  readonly rawText: boolean;
}

/** The login in the header of a request. */
export interface ConnectionLogin {
  readonly user: string;
  /** A secret. */
  readonly password: string;
  readonly database: string;
  readonly options: string | undefined;
  readonly application_name: string | undefined;
}

/** @throws {HttpSqlError | HttpError} 400 */
export function readSqlRequest(headers: IncomingHttpHeaders, body: Buffer): HttpSqlRequest {
  const { text, value } = parseJsonBytes(body);
  const parsed = Body.safeParse(value);
  if (!parsed.success)
    throw new HttpSqlError(400, 'the body must be {"query", "params"} or {"queries": […]} as JSON');
  const isBatch = 'queries' in parsed.data;
  const params = readParameters(text, isBatch);
  const queries = 'queries' in parsed.data ? parsed.data.queries : [parsed.data];
  if ([queries.map(({ query }) => query), params].flat(2).some((each) => each?.isWellFormed() === false))
    throw new HttpSqlError(400, 'a query or parameter has half of a surrogate pair, which is no character');
  return {
    queries: queries.map(({ query, arrayMode }, index) => ({
      query,
      params: params[index] ?? [],
      arrayMode,
    })),
    begin: isBatch ? beginStatement(headers) : undefined,
    arrayMode: headers['neon-array-mode'] === 'true',
    rawText: headers['neon-raw-text-output'] === 'true',
  };
}

/** @throws {HttpSqlError} 400 */
export function readLogin(headers: IncomingHttpHeaders): ConnectionLogin {
  const header = headers['neon-connection-string'];
  if (typeof header !== 'string') throw new HttpSqlError(400, 'the header Neon-Connection-String is missing');
  try {
    const { protocol, username, password, pathname, searchParams } = new URL(header);
    const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
    if (!/^postgres(ql)?:$/.test(protocol) || user === '' || /[\0/]/.test(database)) throw new Error();
    if (password === '') throw new HttpSqlError(400, 'the connection string has no password');
    return {
      user,
      password: decodeURIComponent(password),
      database: database || user,
      options: searchParams.get('options') ?? undefined,
      application_name: searchParams.get('application_name') ?? undefined,
    };
  } catch (error) {
    throw error instanceof HttpSqlError ? error : new HttpSqlError(400, 'the connection string is not valid');
  }
}

const LEVELS: Readonly<Record<string, string>> = {
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
  Serializable: 'SERIALIZABLE',
};

function beginStatement(headers: IncomingHttpHeaders): string {
  const isolation = headers['neon-batch-isolation-level'];
  const level = isolation === undefined ? '' : LEVELS[String(isolation)];
  if (level === undefined) throw new HttpSqlError(400, `unknown isolation level: ${String(isolation)}`);
  const modes = [
    level && `ISOLATION LEVEL ${level}`,
    headers['neon-batch-read-only'] === 'true' && 'READ ONLY',
    headers['neon-batch-deferrable'] === 'true' && 'DEFERRABLE',
  ];
  return `BEGIN ${modes.filter(Boolean).join(', ')}`;
}
