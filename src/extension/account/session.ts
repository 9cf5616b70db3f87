/** The account that the window is connected to. A session follows the secret store, and opens a connection to the current account. */
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { AccountSwitchedError, NotConnectedError } from '../window/changeErrors.ts';
import { Emitter } from '../../base/event.ts';
import type { Account, Accounts } from './accounts.ts';
import { AccountConnection, type OpenClient } from './accountConnection.ts';

/** While `loading`, the secret store is being read. A session has `failed` if the store couldn't be read, or `fail` was called. */
type SessionState =
  | { readonly kind: 'signedOut' | 'loading'; readonly connection?: undefined }
  | { readonly kind: 'connected'; readonly connection: AccountConnection }
  | { readonly kind: 'failed'; readonly connection?: undefined; readonly error: unknown };

/** The accounts that a session uses. Without a window, there is one account, which isn't stored. */
type SessionAccounts = Pick<Accounts, 'list' | 'key' | 'onDidChange'>;

/** Keeps a connection to the window's current account. */
export class Session implements Disposable {
  readonly #accounts: SessionAccounts;
  readonly #open: OpenClient;
  readonly #changed = new Emitter<SessionState>();
  readonly #disposables = new DisposableStore();
  #state: SessionState = { kind: 'loading' };
  #lastRead: Promise<void> = Promise.resolve();
  #readCount = 0;

  readonly onDidChange = this.#changed.event;

  constructor(accounts: SessionAccounts, open: OpenClient) {
    this.#accounts = accounts;
    this.#open = open;
    this.#disposables.add(this.#changed);
  }

  get current(): SessionState {
    return this.#state;
  }

  get connection(): AccountConnection | undefined {
    return this.#state.connection;
  }

  /** @throws {NotConnectedError} */
  requireConnection(): AccountConnection {
    const { connection } = this;
    if (connection === undefined) throw new NotConnectedError();
    return connection;
  }

  /**
   * Throws if the window has switched to another account. Another key of the same account is allowed. A window without a connection
   * is allowed, too, because it can send nothing.
   * @param initialConnection the connection when the user began
   * @throws {AccountSwitchedError}
   */
  requireSameAccount(initialConnection: AccountConnection | undefined): void {
    const { connection } = this;
    if (connection !== undefined && !connection.isSameAccount(initialConnection))
      throw new AccountSwitchedError();
  }

  /** Reads the secret store and follows it from then on. Never rejects. */
  async start(): Promise<void> {
    this.#disposables.add(this.#accounts.onDidChange(() => void this.reread()));
    await this.reread();
  }

  /** Reads the secret store again. Never rejects. */
  async reread(): Promise<void> {
    this.#lastRead = this.#read();
    await this.whenRead();
  }

  /** Resolves when the secret store has been read, so that it is known whether there is a connection. Never rejects. */
  async whenRead(): Promise<void> {
    let awaited: Promise<void> | undefined;
    while (awaited !== this.#lastRead) await (awaited = this.#lastRead);
  }

  /** Closes a connection whose service has ended for good. */
  fail(connection: AccountConnection, error: unknown): void {
    if (connection === this.connection) this.#replace({ kind: 'failed', error });
  }

  dispose(): void {
    this.connection?.close();
    this.#disposables.dispose();
  }

  /** Reads the secret store, and drops the result if a later read has started. */
  async #read(): Promise<void> {
    const readNumber = ++this.#readCount;
    try {
      const { current: account } = await this.#accounts.list();
      const key = account && (await this.#accounts.key(account));
      if (readNumber === this.#readCount) this.#connect(account, key);
    } catch (error) {
      if (readNumber === this.#readCount) this.#replace({ kind: 'failed', error });
    }
  }

  #connect(account: Account | undefined, key: string | undefined): void {
    if (account === undefined || key === undefined) {
      if (this.#state.kind !== 'signedOut') this.#replace({ kind: 'signedOut' });
      return;
    }
    const previous = this.connection;
    const connection = new AccountConnection(account, key, this.#open);
    // A key is stored before its id, so there is a second event with the id.
    const isUnchanged =
      connection.isSameAccount(previous) &&
      previous?.hasKey(key) === true &&
      previous.account.keyId === account.keyId &&
      previous.account.organizationId === account.organizationId &&
      previous.account.projectId === account.projectId;
    if (!isUnchanged) this.#replace({ kind: 'connected', connection });
  }

  #replace(state: SessionState): void {
    this.connection?.close();
    this.#state = state;
    this.#changed.fire(state);
  }
}
