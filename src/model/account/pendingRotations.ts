/**
 * Key rotations that have begun and not ended. They are kept where every window sees them, so that the next start finishes
 * what a reload interrupted. Names and ids only, never a key.
 */
import { isApiKeyId } from '../../api/records/ids.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Poller } from '../../base/poller.ts';
import type { Memory } from '../memory.ts';

export interface PendingRotation {
  /** See `accountId`. */
  readonly account: string;
  /** Of the new key. No other key of the account has it. */
  readonly name: string;
  /** Revoked at the end; undefined when the user chose to keep all keys. */
  readonly oldKey?: { readonly id: number; readonly name: string } | undefined;
}

const ROTATIONS_ENTRY = 'hostedPostgres.keyRotations';

/** Milliseconds between two signs of life of the window that works on a rotation. */
const BEAT = 1000;
/** Milliseconds without one, after which that window is gone. */
export const QUIET = 5 * BEAT;

type Kept = PendingRotation & { readonly beat: number };

/** For activation: whether there is anything to finish, without a look at what. */
export const hasRotations = (memory: { get(entry: string): unknown }): boolean =>
  Object.keys(memory.get(ROTATIONS_ENTRY) ?? {}).length > 0;

export class PendingRotations implements Disposable {
  readonly #memory: Memory;
  readonly #clock: Clock;
  readonly #timers = new Set<Disposable>();

  constructor(memory: Memory, clock: Clock = systemClock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  get accounts(): readonly string[] {
    return Object.keys(this.#all);
  }

  of(account: string): PendingRotation | undefined {
    return this.#all[account];
  }

  /**
   * Keeps the rotation, then runs `work` and shows other windows that this one is alive. Only `forget` removes it.
   * @throws before `work` when the rotation cannot be kept
   */
  async run<T>(rotation: PendingRotation, work: () => Promise<T>): Promise<T> {
    await this.#put({ ...rotation, beat: (this.#all[rotation.account]?.beat ?? 0) + 1 });
    const poll = async () => {
      const now = this.#all[rotation.account];
      if (now !== undefined) await this.#put({ ...now, beat: now.beat + 1 });
    };
    const beating = new Poller({ poll, interval: () => BEAT, longestWait: BEAT, clock: this.#clock }, BEAT);
    this.#timers.add(beating);
    try {
      return await work();
    } finally {
      beating.dispose();
      this.#timers.delete(beating);
    }
  }

  async forget(account: string): Promise<void> {
    const { [account]: _ended, ...others } = this.#all;
    await this.#memory.update(ROTATIONS_ENTRY, Object.keys(others).length === 0 ? undefined : others);
  }

  /**
   * Waits until no window has worked on the account's rotation for some time, and for ever once this is disposed.
   * @returns the rotation, or undefined when it has ended
   */
  async abandoned(account: string, quiet = QUIET): Promise<PendingRotation | undefined> {
    let last: Kept | undefined;
    for (;;) {
      const now = this.#all[account];
      if (now === undefined || (last?.name === now.name && last.beat === now.beat)) return now;
      last = now;
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

  async #put(rotation: Kept): Promise<void> {
    await this.#memory.update(ROTATIONS_ENTRY, { ...this.#all, [rotation.account]: rotation });
  }

  get #all(): Readonly<Record<string, Kept>> {
    const kept = Object.values(this.#memory.get(ROTATIONS_ENTRY) ?? {}).filter(isKept);
    return Object.fromEntries(kept.map((rotation) => [rotation.account, rotation]));
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const { account, name, oldKey, beat } = value as Partial<Kept>;
  const isNamed = typeof account === 'string' && typeof name === 'string' && typeof beat === 'number';
  return isNamed && (oldKey === undefined || (isApiKeyId(oldKey?.id) && typeof oldKey?.name === 'string'));
}
