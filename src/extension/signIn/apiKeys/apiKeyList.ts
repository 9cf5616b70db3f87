/** The account's API keys, and the calls that create and revoke them. The list never has a key's value. */
import type { CallOptions } from '../../../api/client.ts';
import { isOutcomeUnknown, isRejected } from '../../../api/transport/errors.ts';
import type { ApiKey, CreatedApiKey } from '../../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { Emitter } from '../../../base/event.ts';
import { RemoteList, type FetchedList } from '../../window/remoteList.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { Session } from '../../account/session.ts';

/** Loads and changes the API keys of the connected account. */
export class ApiKeyList extends RemoteList<number, ApiKey> implements Disposable {
  readonly #session: Session;
  readonly #changed = new Emitter<void>();
  readonly #disposables = new DisposableStore();
  #connection: AccountConnection | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(session: Session) {
    super();
    this.#session = session;
    this.#disposables.add(this.#changed);
    this.#disposables.add(session.onDidChange(() => this.#changeConnection()));
    this.#changeConnection();
  }

  get keys(): readonly ApiKey[] {
    return [...this.items.values()];
  }

  /** Whether the list was requested before. If not, a refresh isn't worth a request. */
  get wasRequested(): boolean {
    return this.isLoaded || this.failure !== undefined;
  }

  key(id: number): ApiKey | undefined {
    return this.items.get(id);
  }

  /** Whether this window is known to use the key: the extension created it, or it is the account's only one. */
  isInUse(id: number): boolean {
    const isOnly = this.items.size === 1 && this.unreadable.length === 0 && this.items.has(id);
    return isOnly || this.#connection?.account.keyId === id;
  }

  /** Whether it is known which key this window uses. Until then, `isInUse` is false for every key. */
  get isUseKnown(): boolean {
    return this.keys.some(({ id }) => this.isInUse(id));
  }

  override async ensureLoaded(): Promise<void> {
    const connection = this.#connection;
    await super.ensureLoaded();
    // The account may have been switched in the meantime.
    if (connection !== this.#connection) await this.ensureLoaded();
  }

  /** Does nothing without a connection. @throws {ApiError} with 403 for an organization's key (public service) */
  override async refresh(): Promise<void> {
    if (this.#connection !== undefined) await super.refresh();
  }

  /** Creates a key. Its value is in the result and nowhere else. @throws {ApiError} */
  async create(name: string, options?: CallOptions): Promise<CreatedApiKey> {
    const connection = this.#session.requireConnection();
    try {
      const client = await connection.client();
      const created = await client.createApiKey(name, options);
      await this.#refreshAfterEdit(connection);
      return created;
    } catch (error) {
      // The key may exist, but no client received its value.
      if (isOutcomeUnknown(error)) await this.#refreshAfterEdit(connection);
      throw error;
    }
  }

  /** Revokes a key, at once and for good. @throws {ApiError} */
  async revoke(id: number, options?: CallOptions): Promise<void> {
    const connection = this.#session.requireConnection();
    try {
      await (await connection.client()).revokeApiKey(id, options);
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      if (!isUnknown && !isRejected(error, 404)) throw error;
      await this.#refreshAfterEdit(connection);
      if (!isUnknown || !this.#isGone(connection, id)) throw error;
    }
    await this.#refreshAfterEdit(connection, id);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  protected override async fetch(): Promise<FetchedList<number, ApiKey>> {
    const connection = this.#session.requireConnection();
    const client = await connection.client();
    const { signal } = connection;
    const { items, unreadable } = await client.listApiKeys({ signal });
    return { items: new Map(items.map((key) => [key.id, key])), unreadable };
  }

  protected override notify(): void {
    this.#changed.fire();
  }

  #changeConnection(): void {
    const { connection } = this.#session;
    if (connection === this.#connection) return;
    const isKept = this.wasRequested && connection?.isSameAccount(this.#connection) === true;
    this.#connection = connection;
    this.reset({ keepItems: isKept });
    if (isKept) this.refresh().catch(() => undefined); // The list keeps the failure.
    this.#changed.fire();
  }

  /**
   * Refreshes the list after a change. Never rejects: the caller reports the result of the change, and the list keeps a failure.
   */
  async #refreshAfterEdit(connection: AccountConnection, revokedId?: number): Promise<void> {
    if (connection !== this.#connection) return;
    this.edit(new Map([...this.items].filter(([id]) => id !== revokedId)));
    await this.refresh().catch(() => undefined);
  }

  /** Whether the list, just refreshed, shows that the key is revoked: it lacks the key, or the service rejected the key. */
  #isGone(connection: AccountConnection, id: number): boolean {
    if (connection !== this.#connection) return false;
    if (this.failure !== undefined)
      return isRejected(this.failure, 401) && (this.isInUse(id) || !this.isUseKnown);
    return !this.isListed(id);
  }
}
