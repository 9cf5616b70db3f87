/** Keeps the account in memory and in its file. A change is in memory at once, and replies wait until it is on disk. */
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { replaceFile } from '../../base/replaceFile.ts';
import { encodeAccount, readAccountFile } from './accountFile.ts';
import { AccountState } from './accountState.ts';
import { delay } from '../core/serviceClock.ts';
import { systemReason } from '../../base/systemReason.ts';
import { unusableStartError } from '../core/serviceErrors.ts';
import type { Mutation } from './storedRecords.ts';

interface StoreOptions {
  readonly folder: string;
  /** Returns a new account; called only if the folder has none. */
  readonly seed: () => Promise<AccountState>;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Called before the file is replaced. If it throws, the file stays as it is. */
  readonly check: () => void;
}

/** Milliseconds until a write that has failed is tried again, unless there is another change or reply before. */
const RETRY_INTERVAL = 10_000;

/** Keeps the account, and writes its changes to the file. */
export class Store {
  readonly account: AccountState;
  /** Whether the folder had no account. */
  readonly isNew: boolean;
  readonly #file: string;
  readonly #options: StoreOptions;
  /** The last write. It rejects if it has failed. */
  #lastWrite: Promise<void> = Promise.resolve();
  /** Whether the last write is still waiting. If so, it will include all changes made before it begins. */
  #isWaiting = false;
  /** Whether the last write has failed, so that the file lacks some changes. */
  #hasFailed = false;
  /** Resolves when a write that has failed is tried again. */
  #retry: Promise<void> = Promise.resolve();

  private constructor(account: AccountState, isNew: boolean, file: string, options: StoreOptions) {
    this.account = account;
    this.isNew = isNew;
    this.#file = file;
    this.#options = options;
  }

  /** Reads the account from its file, or begins with a new one if there is no file. @throws {StartError} */
  static async open(options: StoreOptions): Promise<Store> {
    const file = path.join(options.folder, 'account.json');
    const stored = readAccountFile(file);
    const account = stored === undefined ? await options.seed() : new AccountState();
    for (const mutation of stored ?? []) account.apply(mutation);
    const store = new Store(account, stored === undefined, file, options);
    // This reports a folder that can't be written now, rather than at the first change.
    await store.#write();
    return store;
  }

  /** Applies the mutations together. Either all of them or none survive a crash; see {@link whenDurable}. */
  commit(...mutations: readonly Mutation[]): void {
    if (mutations.length === 0) return;
    for (const mutation of mutations) this.account.apply(mutation);
    this.#queueWrite();
  }

  /**
   * Resolves when the account is on disk as it is now. Every reply waits for this, even if the request only reads, so no client
   * sees what a crash could undo. After a failed write, this tries to write again.
   * @throws {StartError} if the write fails
   */
  async whenDurable(): Promise<void> {
    if (this.#hasFailed) this.#queueWrite();
    return this.#lastWrite;
  }

  /** Waits until {@link whenDurable} succeeds, such as when a full disk has space again. For work that no client waits for. Never rejects. */
  async untilDurable(): Promise<void> {
    const isDurable = () =>
      this.whenDurable().then(
        () => true,
        () => false,
      );
    while (!(await isDurable())) await this.#retry;
  }

  /** Changes that arrive during a write share the next one. */
  #queueWrite(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const write = async () => {
      this.#isWaiting = false;
      await this.#write();
    };
    this.#lastWrite = this.#lastWrite.then(write, write);
    this.#lastWrite.catch((error: unknown) => this.#tryAgain(error));
  }

  #tryAgain(error: unknown): void {
    const { clock, log } = this.#options;
    if (!this.#hasFailed) log(systemReason(error));
    this.#hasFailed = true;
    this.#retry = delay(clock, RETRY_INTERVAL).then(() => {
      if (this.#hasFailed) this.#queueWrite();
    });
  }

  /** @throws {StartError} */
  async #write(): Promise<void> {
    const { check } = this.#options;
    const options = { mode: 0o600, temporary: `${this.#file}.new`, check };
    try {
      await replaceFile(this.#file, encodeAccount(this.account.snapshot()), options);
      this.#hasFailed = false;
    } catch (error) {
      throw unusableStartError(`Cannot write to ${this.#file}: ${systemReason(error)}`);
    }
  }
}
