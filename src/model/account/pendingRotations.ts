/**
 * Key rotations that have begun and not ended. Every window sees them, so that the next start finishes what a reload
 * interrupted, and no two windows rotate a key at the same time. Names and ids only, never a key.
 */
import { isApiKeyId } from '../../api/records/ids.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Poller } from '../../base/poller.ts';

export interface PendingRotation {
  /** See `accountId`. */
  readonly account: string;
  /** Of the new key. No other key of the account has it. */
  readonly name: string;
  /** Revoked at the end; undefined when the user chose to keep all keys. */
  readonly oldKey?: { readonly id: number; readonly name: string } | undefined;
}

export interface RotationRecord {
  readonly rotation: unknown;
  /** Another value after each `touch`. */
  readonly beat: number;
}

/** One record for each account, shared by all windows and kept when they close. */
export interface RotationStore {
  all(): readonly RotationRecord[];
  /** Of several windows, one succeeds. @returns false if the account has a record @throws if it cannot be kept */
  create(account: string, rotation: unknown): Promise<boolean>;
  touch(account: string): Promise<void>;
  remove(account: string): Promise<void>;
}

/** Milliseconds between two signs of life of the window that works on a rotation. */
const BEAT = 1000;
/** Milliseconds without one, after which that window is gone. */
export const QUIET = 5 * BEAT;

export class PendingRotations implements Disposable {
  readonly #store: RotationStore;
  readonly #clock: Clock;
  readonly #timers = new Set<Disposable>();

  constructor(store: RotationStore, clock: Clock = systemClock) {
    this.#store = store;
    this.#clock = clock;
  }

  get accounts(): readonly string[] {
    return this.#store.all().flatMap(({ rotation }) => (isRotation(rotation) ? rotation.account : []));
  }

  of(account: string): PendingRotation | undefined {
    return this.#find(account)?.rotation;
  }

  /**
   * Keeps a new rotation and runs its work. Only `forget` removes it.
   * @returns undefined if the account has a pending rotation @throws if the rotation cannot be kept
   */
  async begin<T>(rotation: PendingRotation, work: () => Promise<T>): Promise<T | undefined> {
    const isFree = await this.#store.create(rotation.account, rotation);
    return isFree ? await this.run(rotation.account, work) : undefined;
  }

  /** Runs work on a pending rotation and shows other windows that this one is alive. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    const poll = () => this.#store.touch(account);
    const beating = new Poller({ poll, interval: () => BEAT, longestWait: BEAT, clock: this.#clock }, 0);
    this.#timers.add(beating);
    try {
      return await work();
    } finally {
      beating.dispose();
      this.#timers.delete(beating);
    }
  }

  async forget(account: string): Promise<void> {
    await this.#store.remove(account);
  }

  /**
   * Waits until no window has worked on the account's rotation for some time, and forever once this is disposed.
   * @returns the rotation, or undefined when it has ended
   */
  async abandoned(account: string, quiet = QUIET): Promise<PendingRotation | undefined> {
    let lastBeat: number | undefined;
    for (;;) {
      const now = this.#find(account);
      if (now === undefined || now.beat === lastBeat) return now?.rotation;
      lastBeat = now.beat;
      await this.#pause(quiet);
    }
  }

  dispose(): void {
    for (const timer of this.#timers) timer.dispose();
  }

  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(milliseconds, () => {
        this.#timers.delete(timer);
        resolve();
      });
      this.#timers.add(timer);
    });
  }

  #find(account: string) {
    for (const { rotation, beat } of this.#store.all())
      if (isRotation(rotation) && rotation.account === account) return { rotation, beat };
    return undefined;
  }
}

function isRotation(value: unknown): value is PendingRotation {
  if (typeof value !== 'object' || value === null) return false;
  const { account, name, oldKey } = value as Partial<PendingRotation>;
  const isNamed = typeof account === 'string' && typeof name === 'string';
  return isNamed && (oldKey === undefined || (isApiKeyId(oldKey?.id) && typeof oldKey?.name === 'string'));
}
