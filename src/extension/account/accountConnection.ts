import { isLoopback } from '../../api/addresses/host.ts';
import type { Client } from '../../api/client.ts';
import { keepUnlessRejected } from '../window/keepUnlessRejected.ts';
import { accountId, type Account } from './accounts.ts';

/** Creates the client of an account. It is asynchronous, because the client's code is loaded on first use. */
export type OpenClient = (
  account: Account,
  key: string,
  /** Attempts after the first one. */
  retries?: number,
) => Promise<Client>;

/**
 * One account with one key. When either changes, a new connection replaces this one, and replies to requests of the closed
 * one are dropped.
 */
export class AccountConnection {
  readonly account: Account;
  /** The id of the account, see `accountId`. */
  readonly accountId: string;
  readonly #key: string;
  readonly #abort = new AbortController();
  /** Returns the client. @throws {Error} if its code can't be loaded */
  readonly client: () => Promise<Client>;

  constructor(account: Account, key: string, open: OpenClient) {
    this.account = account;
    this.accountId = accountId(account);
    this.#key = key;
    this.client = keepUnlessRejected(() => open(account, key));
  }

  /** The signal is aborted when the connection is closed. Pass it to every call. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Whether the service runs on this machine. */
  get isLocal(): boolean {
    return isLoopback(new URL(this.account.baseUrl).hostname);
  }

  /** Whether both are of the same account, with the same key or another one. */
  isSameAccount(other: AccountConnection | undefined): boolean {
    return other?.accountId === this.accountId;
  }

  hasKey(key: string): boolean {
    return key === this.#key;
  }

  close(): void {
    this.#abort.abort();
  }
}
