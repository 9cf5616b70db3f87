/** The account's API keys, and the calls that create and revoke them. Never holds a key's value. */
import type { CallOptions, KeyKind } from '../../api/client.ts';
import { isOutcomeUnknown, isRejected } from '../../api/errors.ts';
import type { UnreadableRecord } from '../../api/records/parseResponse.ts';
import type { ApiKey, CreatedApiKey } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { RemoteList, type FetchedList } from '../remoteList.ts';
import type { AccountConnection } from './accountConnection.ts';
import type { Session } from './session.ts';

/** The keys as one connection sees them. */
class ConnectionKeys extends RemoteList<number, ApiKey> {
  readonly connection: AccountConnection;
  /** Loaded after a 403. */
  keyKind: KeyKind | undefined;
  readonly #onChange: () => void;

  constructor(connection: AccountConnection, onChange: () => void) {
    super();
    this.connection = connection;
    this.#onChange = onChange;
  }

  protected override async fetch(): Promise<FetchedList<number, ApiKey>> {
    const { signal } = this.connection;
    const client = await this.connection.client();
    const { items, unreadable } = await this.findKindAfter403(client.listApiKeys({ signal }));
    return { items: new Map(items.map((key) => [key.id, key])), unreadable };
  }

  async findKindAfter403<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (isRejected(error, 403)) this.keyKind = await this.#findKeyKind().catch(() => undefined);
      throw error;
    }
  }

  async #findKeyKind(): Promise<KeyKind | undefined> {
    const client = await this.connection.client();
    return await client.findKeyKind({ signal: this.connection.signal });
  }

  protected override notify(): void {
    this.#onChange();
  }
}

export class ApiKeyList implements Disposable {
  readonly #session: Session;
  readonly #changed = new Emitter<void>();
  readonly #disposables = new DisposableStore();
  #list: ConnectionKeys | undefined;

  readonly onDidChange = this.#changed.event;

  constructor(session: Session) {
    this.#session = session;
    this.#disposables.add(this.#changed);
    this.#disposables.add(session.onDidChange(() => this.#changeConnection()));
    this.#changeConnection();
  }

  get keys(): readonly ApiKey[] {
    return [...(this.#list?.items.values() ?? [])];
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#list?.unreadable ?? [];
  }

  /** Why the last load failed, if it did: with 403 for an organization's key (public service). */
  get failure(): unknown {
    return this.#list?.failure;
  }

  /** The kind of the key in use. Known only after a 403, and if the service reports it. */
  get keyKind(): KeyKind | undefined {
    return this.#list?.keyKind;
  }

  /** Whether the list was requested before. If not, a refresh isn't worth a request. */
  get wasRequested(): boolean {
    return this.#list?.isLoaded === true || this.failure !== undefined;
  }

  key(id: number): ApiKey | undefined {
    return this.#list?.items.get(id);
  }

  /** Whether this window is known to use the key: the extension created it, or it is the account's only one. */
  isInUse(id: number): boolean {
    if (this.#list === undefined) return false;
    const { items, unreadable, connection } = this.#list;
    const isOnly = items.size === 1 && unreadable.length === 0 && items.has(id);
    return isOnly || connection.account.keyId === id;
  }

  /** Whether it is known which key this window uses. Until then, `isInUse` is false for every key. */
  get isUseKnown(): boolean {
    return this.keys.some(({ id }) => this.isInUse(id));
  }

  /** Loads the keys once. @throws {ApiError} */
  async load(): Promise<void> {
    await this.#list?.load();
  }

  /** Loads the keys for callers that only show them. Never rejects. */
  async ensureLoaded(): Promise<void> {
    const list = this.#list;
    await list?.ensureLoaded();
    // The account may have been switched in the meantime.
    if (list !== this.#list) await this.ensureLoaded();
  }

  /** @throws {ApiError} */
  async refresh(): Promise<void> {
    await this.#list?.refresh();
  }

  /** The value is in the result and nowhere else (section 2.2). @throws {ApiError} */
  async create(name: string, options?: CallOptions): Promise<CreatedApiKey> {
    const list = this.#requireList();
    try {
      const client = await list.connection.client();
      const created = await list.findKindAfter403(client.createApiKey(name, options));
      await refreshAfterEdit(list);
      return created;
    } catch (error) {
      // The key may exist, but no client received its value.
      if (isOutcomeUnknown(error)) await refreshAfterEdit(list);
      throw error;
    }
  }

  /** Immediate and irreversible (section 3.3). @throws {ApiError} */
  async revoke(id: number, options?: CallOptions): Promise<void> {
    const list = this.#requireList();
    try {
      await (await list.connection.client()).revokeApiKey(id, options);
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      if (!isUnknown && !isRejected(error, 404)) throw error;
      await refreshAfterEdit(list);
      if (!isUnknown || !this.#isGone(list, id)) throw error;
    }
    await refreshAfterEdit(list, new Map([...list.items].filter(([keyId]) => keyId !== id)));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #requireList(): ConnectionKeys {
    if (this.#list === undefined) throw new Error('Not connected');
    return this.#list;
  }

  #changeConnection(): void {
    const { connection } = this.#session;
    const [previous, wasRequested] = [this.#list, this.wasRequested];
    if (previous?.connection === connection) return;
    const list =
      connection && new ConnectionKeys(connection, () => list === this.#list && this.#changed.fire());
    this.#list = list;
    if (
      wasRequested &&
      previous !== undefined &&
      list?.connection.isSameAccount(previous.connection) === true
    ) {
      list.restoreFrom(previous);
      list.refresh().catch(() => undefined); // The list keeps the failure.
    }
    this.#changed.fire();
  }

  /** Whether the list, just refreshed, shows that the key is revoked: it lacks the key, or the service rejected the key. */
  #isGone(list: ConnectionKeys, id: number): boolean {
    if (list.failure !== undefined)
      return isRejected(list.failure, 401) && (this.isInUse(id) || !this.isUseKnown);
    return !list.items.has(id) && !list.unreadable.some((record) => record.id === String(id));
  }
}

/** Never rejects: the caller reports the result of the change, and the list keeps a failure of the refresh. */
async function refreshAfterEdit(list: ConnectionKeys, items = list.items): Promise<void> {
  list.edit(items);
  await list.refresh().catch(() => undefined);
}
