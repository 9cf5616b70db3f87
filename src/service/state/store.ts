/** The account and its journal as one: a change is in memory at once, and an answer waits until it is on disk. */
import path from 'node:path';
import { Account } from './account.ts';
import { Journal } from './journal.ts';
import { readJournal } from './journalFile.ts';
import type { Change } from './storedRecords.ts';

export interface StoreOptions {
  readonly folder: string;
  /** What a new account begins with; asked for only when there is none. */
  readonly firstAccount: () => Promise<Iterable<Change>>;
  readonly onFailure: (error: unknown) => void;
}

export const journalFile = (folder: string): string => path.join(folder, 'account.journal');

export class Store {
  readonly account: Account;
  /** Whether the account was there before; a torn last line of its journal in bytes. */
  readonly found: { readonly tornBytes: number } | undefined;
  readonly #journal: Journal;

  private constructor(account: Account, journal: Journal, found: Store['found']) {
    this.account = account;
    this.#journal = journal;
    this.found = found;
  }

  /** @throws {StartFailure} when the journal is damaged or of a newer format */
  static async open(options: StoreOptions): Promise<Store> {
    const file = journalFile(options.folder);
    const account = new Account();
    const journalOptions = { file, snapshot: () => account.snapshot(), onFailure: options.onFailure };
    const contents = readJournal(file);
    for (const change of contents?.changes ?? (await options.firstAccount())) account.apply(change);
    if (contents === undefined) return new Store(account, Journal.create(journalOptions), undefined);
    const journal = Journal.resume(journalOptions, contents.goodBytes);
    return new Store(account, journal, { tornBytes: contents.tornBytes });
  }

  /** Makes the changes together. They are durable, all or none, when {@link whenDurable} says so. */
  commit(...changes: readonly Change[]): void {
    if (changes.length === 0) return;
    for (const change of changes) this.account.apply(change);
    this.#journal.append(changes);
  }

  /**
   * Resolves when everything that can be read now is on disk, undefined when it is already. Every answer waits
   * for it, the reading ones too, so nothing is ever shown that a crash could take back.
   */
  whenDurable(): Promise<void> | undefined {
    return this.#journal.whenDurable();
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}
