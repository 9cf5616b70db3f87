/** A clock that only tests advance, so that a day of polling takes no time. */
import { toDisposable } from '../../src/base/disposable.ts';
import type { ServiceClock } from '../../src/service/core/serviceClock.ts';
import { until } from '../workbench/until.ts';

export class FakeClock implements ServiceClock {
  #now: number;
  /** By how much {@link set} has changed the time. */
  #change = 0;
  #timers: { due: number; readonly run: () => void }[] = [];

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  steadyNow(): number {
    return this.#now - this.#change;
  }

  after(milliseconds: number, run: () => void) {
    const timer = { due: this.#now + milliseconds, run };
    this.#timers.push(timer);
    return toDisposable(() => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    });
  }

  /** Milliseconds until each pending timer, soonest first. */
  get waits(): number[] {
    return this.#timers.map(({ due }) => due - this.#now).sort((a, b) => a - b);
  }

  /** Advances to the next timer and runs it. Returns the milliseconds that passed. */
  next(): number {
    const [timer] = this.#timers.toSorted((a, b) => a.due - b.due);
    if (timer === undefined) throw new Error('No timer is set');
    const passed = Math.max(0, timer.due - this.#now);
    this.#now += passed;
    this.#timers = this.#timers.filter((other) => other !== timer);
    timer.run();
    return passed;
  }

  /** Runs the next timer and waits until its work has set another one. */
  async turn(): Promise<number> {
    const passed = this.next();
    await until('the next timer', async () => this.#timers.length > 0);
    return passed;
  }

  /** Runs the timers that are due by then, one after the other. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    while (this.#timers.some(({ due }) => due <= end)) this.next();
    this.#now = end;
  }

  /** Sets the clock of the machine. Running timers keep their remaining time. */
  set(now: number): void {
    for (const timer of this.#timers) timer.due += now - this.#now;
    this.#change += now - this.#now;
    this.#now = now;
  }

  /** Advances the time without running any timer. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
