/** The schemas of databases as text. Each is cached while a document shows it. */
import { isBranchId, isId } from '../../../api/records/ids.ts';
import type { CallOptions } from '../../../api/client.ts';
import { pointInTimeParameter, type PointInTime } from '../../../api/records/pointInTime.ts';
import { codeOf, DATABASE_MISSING_THEN, isNotOffered } from '../../../api/transport/errors.ts';
import { Emitter } from '../../../base/event.ts';
import { accountId, type Account } from '../../account/accounts.ts';
import type { BranchIds } from '../../account/refs.ts';
import { withoutSlashes } from '../../inventory/names.ts';
import type { Session } from '../../account/session.ts';
import { AccountSwitchedError, NotOfferedError } from '../../window/changeErrors.ts';
import { SCHEMA_SCHEME } from './schemaScheme.ts';

interface SchemaUri {
  readonly path: string;
  /** Names the account, because ids are unique only within one. */
  readonly query: string;
}

interface SchemaOrigin extends BranchIds {
  readonly database: string;
  /** The time of the schema; undefined for now. */
  readonly at?: PointInTime | undefined;
}

/** @param title the title of the branch: see `documentTitle` */
export const schemaUri = (
  account: Account,
  { projectId, branchId, database, at }: SchemaOrigin,
  title: string,
) => ({
  scheme: SCHEMA_SCHEME,
  // VS Code shows the last segment as the title, and highlights SQL by its extension.
  path: `/${[projectId, branchId, pointSegment(at), database].map(encodeURIComponent).join('/')}/${title}.${withoutSlashes(database)}.sql`,
  query: accountId(account),
});

/** Returns undefined for another kind of URI. */
export function parseSchemaUri({ path }: Pick<SchemaUri, 'path'>): SchemaOrigin | undefined {
  const [, projectId, branchId, time, database] = TITLED_PATH.exec(path) ?? UNTITLED_PATH.exec(path) ?? [];
  if (!isId(projectId) || !isBranchId(branchId) || database === undefined) return undefined;
  const origin = { projectId, branchId, database: decodeURIComponent(database) };
  if (time === undefined || time === NOW) return origin;
  const point = decodeURIComponent(time);
  const [, lsn, timestamp] = /^([0-9A-F]+\/[0-9A-F]+)?@?(.+)?$/.exec(point) ?? [];
  if (timestamp !== undefined && Number.isNaN(Date.parse(timestamp))) return undefined;
  if (lsn !== undefined) return { ...origin, at: { lsn, ...(timestamp && { timestamp }) } };
  return timestamp === undefined ? undefined : { ...origin, at: { timestamp } };
}

const TITLED_PATH = /^\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/[^/]+\.sql$/;
/** Documents of version 0.4, which VS Code may reopen: without a title, and with a time only for earlier data. */
const UNTITLED_PATH = /^\/([^/]+)\/([^/]+)(?:\/([^/]+))?\/([^/]+)\.sql$/;
const NOW = 'now';

/** A position has its time after it, if that is known: `0/1A2B@2026-01-31T12:00:00Z`. */
function pointSegment(at: PointInTime | undefined): string {
  if (at === undefined) return NOW;
  return 'lsn' in at && at.timestamp !== undefined ? `${at.lsn}@${at.timestamp}` : pointInTimeParameter(at);
}

const cacheKey = ({ path, query }: SchemaUri): string => `${query} ${path}`;

/** Loads the schemas that documents show, and keeps their texts. */
export class Schemas {
  readonly #session: Session;
  readonly #texts = new Map<string, string>();
  readonly #branchIds = new Map<string, string>();
  readonly #changed = new Emitter<SchemaUri>();
  /** Fires after a schema was reloaded. */
  readonly onDidChange = this.#changed.event;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Returns the names of the branch's databases. @throws {NotOfferedError} */
  async databases(projectId: string, branchId: string, options: CallOptions): Promise<readonly string[]> {
    const databases = await (await this.#client()).listDatabases(projectId, branchId, options);
    if (databases === undefined) throw new NotOfferedError('schemas');
    return databases.map(({ name }) => name);
  }

  /** Gives the document's branch its new id, such as after a restore from a snapshot. */
  replaceBranch(uri: SchemaUri, branchId: string): void {
    this.#branchIds.set(cacheKey(uri), branchId);
  }

  /** Returns the document's path with the present id of its branch. */
  currentPath(uri: SchemaUri): string {
    const branchId = this.#branchIds.get(cacheKey(uri));
    if (branchId === undefined) return uri.path;
    const [start, projectId, , ...others] = uri.path.split('/');
    return [start, projectId, encodeURIComponent(branchId), ...others].join('/');
  }

  /** Returns the schema as it was last loaded. */
  async text(uri: SchemaUri): Promise<string> {
    return this.#texts.get(cacheKey(uri)) ?? (await this.load(uri, {}));
  }

  /** Loads a schema as text, which is empty if the branch has no such database. @throws {NotOfferedError} */
  async load(uri: SchemaUri, options: CallOptions): Promise<string> {
    const origin = parseSchemaUri({ path: this.currentPath(uri) });
    const account = this.#session.connection?.account;
    if (origin === undefined || account === undefined || accountId(account) !== uri.query)
      throw new AccountSwitchedError();
    const text = await this.read(origin, options);
    this.#texts.set(cacheKey(uri), text);
    this.#changed.fire(uri);
    return text;
  }

  /**
   * Loads a schema for a caller that doesn't show it. The text is empty if the branch has no such database, or had none at the moment.
   * @throws {ApiError}
   * @throws {NotOfferedError}
   */
  async read({ projectId, branchId, database, at }: SchemaOrigin, options: CallOptions): Promise<string> {
    const exists = (await this.databases(projectId, branchId, options)).includes(database);
    const { branches } = await this.#client();
    if (!exists) return '';
    const now = () => branches.getSchema(projectId, branchId, database, options).catch(explainedError);
    if (at === undefined) return await now();
    return await branches
      .getSchema(projectId, branchId, database, { ...options, at })
      .catch(async (error) => {
        if (codeOf(error) === DATABASE_MISSING_THEN) return '';
        // If the service has the schema of now, it offers schemas, and the error is about the moment.
        if (isNotOffered(error)) await now();
        throw error;
      });
  }

  forget(uri: SchemaUri): void {
    this.#texts.delete(cacheKey(uri));
    this.#branchIds.delete(cacheKey(uri));
  }

  async #client() {
    const { connection } = this.#session;
    if (connection === undefined) throw new AccountSwitchedError();
    return connection.client();
  }
}

function explainedError(error: unknown): never {
  throw isNotOffered(error) ? new NotOfferedError('schemas') : error;
}
