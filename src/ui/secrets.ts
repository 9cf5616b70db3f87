/**
 * VS Code's SecretStorage as the model wants it. Where no keyring can be had, what is stored is kept for this window
 * only, and whoever listens is told once.
 */
import type { SecretStorage } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { SecretStore } from '../model/accounts.ts';

export class Secrets implements SecretStore, Disposable {
  readonly #storage: SecretStorage;
  readonly #changed = new Emitter<string>();
  readonly #failed = new Emitter<unknown>();
  readonly #listening: Disposable;
  /** What the keyring did not take; undefined marks an entry as deleted. */
  readonly #ours = new Map<string, string | undefined>();

  readonly onDidChange = this.#changed.event;

  /** The keyring does not work: entries last as long as this window. Fired once. */
  readonly onDidFail = this.#failed.event;

  constructor(storage: SecretStorage) {
    this.#storage = storage;
    this.#listening = storage.onDidChange(({ key }) => this.#changed.fire(key));
  }

  async get(entry: string): Promise<string | undefined> {
    if (this.#ours.has(entry)) return this.#ours.get(entry);
    return await this.#storage.get(entry);
  }

  async store(entry: string, value: string): Promise<void> {
    try {
      await this.#storage.store(entry, value);
      this.#ours.delete(entry);
    } catch (error) {
      this.#keep(entry, value, error);
    }
  }

  async delete(entry: string): Promise<void> {
    try {
      await this.#storage.delete(entry);
      this.#ours.delete(entry);
    } catch (error) {
      this.#keep(entry, undefined, error);
    }
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
    this.#failed.dispose();
  }

  #keep(entry: string, value: string | undefined, error: unknown): void {
    const isFirst = this.#ours.size === 0;
    this.#ours.set(entry, value);
    if (isFirst) this.#failed.fire(error);
    this.#changed.fire(entry);
  }
}
