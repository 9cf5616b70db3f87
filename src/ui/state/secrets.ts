/**
 * VS Code's SecretStorage as the model wants it. Where no keyring can be had, or not be read, what is stored is kept
 * for this window only, and whoever listens is told once.
 */
import type { SecretStorage } from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { SecretStore } from '../../model/account/accounts.ts';

export class Secrets implements SecretStore, Disposable {
  readonly #storage: SecretStorage;
  readonly #changed = new Emitter<string>();
  readonly #failed = new Emitter<unknown>();
  readonly #listening: Disposable;
  /** What the keyring did not take; undefined marks an entry as deleted. */
  readonly #ours = new Map<string, string | undefined>();
  /** What could not be read: it may hold something, which must not be written over. */
  readonly #unread = new Set<string>();
  #isToldOf = false;

  readonly onDidChange = this.#changed.event;

  /** The keyring does not work: entries last as long as this window. Fired once. */
  readonly onDidFail = this.#failed.event;

  constructor(storage: SecretStorage) {
    this.#storage = storage;
    this.#listening = storage.onDidChange(({ key }) => this.#changed.fire(key));
  }

  /** Never rejects: what cannot be read is as if it were not there. */
  async get(entry: string): Promise<string | undefined> {
    if (this.#ours.has(entry)) return this.#ours.get(entry);
    try {
      const value = await this.#storage.get(entry);
      this.#unread.delete(entry);
      return value;
    } catch (error) {
      this.#unread.add(entry);
      this.#tell(error);
      return undefined;
    }
  }

  async store(entry: string, value: string): Promise<void> {
    // What is written now could not be read back either.
    if (this.#unread.size > 0) return this.#keep(entry, value);
    try {
      await this.#storage.store(entry, value);
      this.#ours.delete(entry);
    } catch (error) {
      this.#tell(error);
      this.#keep(entry, value);
    }
  }

  /** Reads the value back: some keyrings store without an error and return nothing. */
  async keep(entry: string, value: string): Promise<void> {
    await this.#storage.store(entry, value);
    if ((await this.#storage.get(entry)) !== value) throw new Error('The keyring did not keep the secret');
    this.#ours.delete(entry);
  }

  async delete(entry: string): Promise<void> {
    try {
      await this.#storage.delete(entry);
      this.#ours.delete(entry);
    } catch (error) {
      this.#tell(error);
      this.#keep(entry, undefined);
    }
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
    this.#failed.dispose();
  }

  #keep(entry: string, value: string | undefined): void {
    this.#ours.set(entry, value);
    this.#changed.fire(entry);
  }

  #tell(error: unknown): void {
    if (this.#isToldOf) return;
    this.#isToldOf = true;
    this.#failed.fire(error);
  }
}
