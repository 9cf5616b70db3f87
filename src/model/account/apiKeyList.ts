/** The account's API keys: loaded when first shown, kept when a refresh fails. Never holds a key's value. */
import type { CallOptions } from '../../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../../api/errors.ts';
import type { ApiKey, CreatedApiKey } from '../../api/records/records.ts';
import type { Listed, UnreadableRecord } from '../../api/records/parseResponse.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Connection } from './connection.ts';
import type { Session } from './session.ts';

export class ApiKeyList implements Disposable {
  readonly #session: Session;
  readonly #changed = new Emitter<void>();
  readonly #held = new DisposableStore();
  #connection: Connection | undefined;
  #keys: readonly ApiKey[] = [];
  #unreadable: readonly UnreadableRecord[] = [];
  #failure: unknown;
  #isLoaded = false;

  readonly onDidChange = this.#changed.event;

  constructor(session: Session) {
    this.#session = session;
    this.#held.add(this.#changed);
    this.#held.add(session.onDidChange(() => this.#follow()));
  }

  get keys(): readonly ApiKey[] {
    return this.#keys;
  }

  get unreadable(): readonly UnreadableRecord[] {
    return this.#unreadable;
  }

  /** Why the last load failed, if it did: refused with 403 for an organisation's key (public service). */
  get failure(): unknown {
    return this.#failure;
  }

  /** Whether somebody has looked, so that a refresh is worth a request. */
  get isWanted(): boolean {
    return this.#isLoaded || this.#failure !== undefined;
  }

  key(id: number): ApiKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  /** Whether this window uses the key; only what is certain: a key made from here, or the account's only one. */
  isInUse(id: number): boolean {
    const isOnly = this.#keys.length === 1 && this.#unreadable.length === 0 && this.#keys[0]?.id === id;
    return this.#connection !== undefined && (isOnly || this.#connection.account.keyId === id);
  }

  /** Whether `isInUse` can tell of every key. */
  get isUseKnown(): boolean {
    return this.#keys.some(({ id }) => this.isInUse(id));
  }

  /** Loads the keys if they are not known yet. @throws {ApiError} */
  async load(): Promise<void> {
    if (!this.#isLoaded) await this.refresh();
  }

  /** For those who only look: asks if nobody ever did. Never rejects; a failure stays here. */
  async ensureLoaded(): Promise<void> {
    if (this.#failure === undefined) await this.load().catch(() => undefined);
  }

  /** @throws {ApiError} */
  async refresh(): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    try {
      const listed = await (await connection.client()).listApiKeys({ signal: connection.signal });
      if (connection === this.#connection) this.#replace(listed);
    } catch (error) {
      if (connection === this.#connection) this.#fail(error);
      throw error;
    }
  }

  /** The value is in the result and nowhere else (section 2.2). @throws {ApiError} */
  async create(name: string, options?: CallOptions): Promise<CreatedApiKey> {
    const connection = this.#connected();
    try {
      const created = await (await connection.client()).createApiKey(name, options);
      await this.#refreshQuietly();
      return created;
    } catch (error) {
      // It may be there all the same, with a value that nobody knows.
      if (isOutcomeUnknown(error)) await this.#refreshQuietly();
      throw error;
    }
  }

  /** Immediate and irreversible (section 3.3). @throws {ApiError} */
  async revoke(id: number, options?: CallOptions): Promise<void> {
    const connection = this.#connected();
    try {
      await (await connection.client()).revokeApiKey(id, options);
    } catch (error) {
      const isOpen = isOutcomeUnknown(error);
      if (connection !== this.#connection || !(isOpen || isRefused(error, 404))) throw error;
      await this.#refreshQuietly();
      if (!isOpen || !this.#isGone(id)) throw error;
    }
    if (connection !== this.#connection) return;
    this.#keys = this.#keys.filter((key) => key.id !== id);
    this.#changed.fire();
    await this.#refreshQuietly();
  }

  dispose(): void {
    this.#held.dispose();
  }

  #connected(): Connection {
    if (this.#connection === undefined) throw new Error('Not connected');
    return this.#connection;
  }

  #follow(): void {
    const { connection } = this.#session;
    if (this.#connection === connection) return;
    const isSame = connection?.isSameAccount(this.#connection) === true && this.#isLoaded;
    this.#connection = connection;
    if (isSame) return void this.#refreshQuietly();
    this.#isLoaded = false;
    [this.#keys, this.#unreadable, this.#failure] = [[], [], undefined];
    this.#changed.fire();
  }

  #replace({ items, unreadable }: Listed<ApiKey>): void {
    this.#isLoaded = true;
    [this.#keys, this.#unreadable, this.#failure] = [items, unreadable, undefined];
    this.#changed.fire();
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#changed.fire();
  }

  /** Whether a list asked for just now shows that a key is revoked: it is not in it, or was the key that asked. */
  #isGone(id: number): boolean {
    if (this.#failure !== undefined)
      return isRefused(this.#failure, 401) && (this.isInUse(id) || !this.isUseKnown);
    return this.key(id) === undefined && !this.#unreadable.some((record) => record.id === String(id));
  }

  /** A failure is kept and shown by the list itself; what was asked for has been done. */
  async #refreshQuietly(): Promise<void> {
    await this.refresh().catch(() => undefined);
  }
}
