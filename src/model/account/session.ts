/**
 * Who is connected to what: follows the accounts in the secret store and holds the connection made from them. Its
 * state is the one the whole sidebar is in.
 */
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Account, Accounts } from './accounts.ts';
import { Connection, type OpenClient } from './connection.ts';

/** `loading` has no connection yet while the secret store is being asked, `failed` has none when that failed, or after `end`. */
export type SessionState =
  | { readonly kind: 'signedOut'; readonly connection?: undefined }
  | { readonly kind: 'loading'; readonly connection?: Connection | undefined }
  | { readonly kind: 'empty' | 'ready'; readonly connection: Connection }
  | { readonly kind: 'failed'; readonly connection?: Connection | undefined; readonly error: unknown };

export class Session implements Disposable {
  readonly #accounts: Accounts;
  readonly #open: OpenClient;
  readonly #changed = new Emitter<SessionState>();
  readonly #held = new DisposableStore();
  #state: SessionState = { kind: 'loading' };
  #newest: Promise<void> = Promise.resolve();
  #reading = 0;

  readonly onDidChange = this.#changed.event;

  constructor(accounts: Accounts, open: OpenClient) {
    this.#accounts = accounts;
    this.#open = open;
    this.#held.add(this.#changed);
  }

  get current(): SessionState {
    return this.#state;
  }

  get connection(): Connection | undefined {
    return this.#state.connection;
  }

  /** Reads the secret store for the first time and follows it from then on. Never rejects. */
  async start(): Promise<void> {
    this.#held.add(this.#accounts.onDidChange(() => void this.reread()));
    await this.reread();
  }

  /** Reads the secret store again: it failed, or is known to have changed. Never rejects. */
  async reread(): Promise<void> {
    this.#newest = this.#read();
    await this.whenRead();
  }

  /** Resolves when what the secret store was asked last is answered: then there is a connection, or none to have. Never rejects. */
  async whenRead(): Promise<void> {
    let awaited: Promise<void> | undefined;
    while (awaited !== this.#newest) await (awaited = this.#newest);
  }

  /** The first page of projects is there. Told by the inventory; ignored from a closed connection. */
  loaded(connection: Connection, projectCount: number): void {
    if (connection === this.connection)
      this.#become({ kind: projectCount === 0 ? 'empty' : 'ready', connection });
  }

  /** There is nothing to show, or the service refused the key. */
  failed(connection: Connection, error: unknown): void {
    if (connection === this.connection) this.#become({ kind: 'failed', connection, error });
  }

  /** Its service has ended for good: nothing is sent over the connection any more. */
  end(connection: Connection, error: unknown): void {
    if (connection === this.connection) this.#replace({ kind: 'failed', error });
  }

  /** A first load begins again after it failed. */
  loading(connection: Connection): void {
    if (connection === this.connection) this.#become({ kind: 'loading', connection });
  }

  dispose(): void {
    this.connection?.close();
    this.#held.dispose();
  }

  /** What is read later than another reading begins is dropped. */
  async #read(): Promise<void> {
    const reading = ++this.#reading;
    try {
      const { current: account } = await this.#accounts.list();
      const key = account && (await this.#accounts.key(account));
      if (reading === this.#reading) this.#connect(account, key);
    } catch (error) {
      if (reading === this.#reading) this.#replace({ kind: 'failed', error });
    }
  }

  #connect(account: Account | undefined, key: string | undefined): void {
    if (account === undefined || key === undefined) {
      if (this.#state.kind !== 'signedOut') this.#replace({ kind: 'signedOut' });
      return;
    }
    const now = this.connection;
    const connection = new Connection(account, key, this.#open);
    // The key is stored before its id: the second change brings the id.
    const isSame =
      connection.isSameAccount(now) && now?.hasKey(key) === true && now.account.keyId === account.keyId;
    if (!isSame) this.#replace({ kind: 'loading', connection });
  }

  #replace(state: SessionState): void {
    this.connection?.close();
    this.#become(state);
  }

  #become(state: SessionState): void {
    const { kind, connection } = this.#state;
    const isSame = kind === state.kind && connection === state.connection && kind !== 'failed';
    this.#state = state;
    if (!isSame) this.#changed.fire(state);
  }
}
