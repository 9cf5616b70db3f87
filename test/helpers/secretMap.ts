import { toDisposable } from '../../src/base/disposable.ts';
import { Emitter, type Event } from '../../src/base/event.ts';
import type { SecretStore } from '../../src/extension/account/accounts.ts';

/** A secret store in memory, which several windows can share. */
export class SecretMap implements SecretStore {
  /** Whether every call fails, as with a locked keyring. */
  isLocked = false;
  readonly entries = new Map<string, string>();
  readonly #changed = new Emitter<string>();
  /** The current number of listeners. */
  listeners = 0;

  readonly onDidChange: Event<string> = (listener) => {
    const subscription = this.#changed.event(listener);
    this.listeners += 1;
    return toDisposable(() => {
      this.listeners -= 1;
      subscription.dispose();
    });
  };

  async get(entry: string): Promise<string | undefined> {
    this.#check();
    return this.entries.get(entry);
  }

  async store(entry: string, value: string): Promise<void> {
    this.#check();
    this.entries.set(entry, value);
    this.#changed.fire(entry);
  }

  storeDurably(entry: string, value: string): Promise<void> {
    return this.store(entry, value);
  }

  async delete(entry: string): Promise<void> {
    this.#check();
    this.entries.delete(entry);
    this.#changed.fire(entry);
  }

  #check(): void {
    if (this.isLocked) throw new Error('locked');
  }
}
