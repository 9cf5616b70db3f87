import { toDisposable } from '../../src/base/disposable.ts';
import { Emitter, type Event } from '../../src/base/event.ts';
import type { SecretStore } from '../../src/model/accounts.ts';

/** A secret store that several windows can share: a map and an event. */
export class SecretMap implements SecretStore {
  /** As a keyring can be: every call then fails. */
  isLocked = false;
  readonly entries = new Map<string, string>();
  readonly #changed = new Emitter<string>();
  /** Those who listen now. */
  listeners = 0;

  readonly onDidChange: Event<string> = (listener) => {
    const listening = this.#changed.event(listener);
    this.listeners += 1;
    return toDisposable(() => {
      this.listeners -= 1;
      listening.dispose();
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

  keep(entry: string, value: string): Promise<void> {
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
