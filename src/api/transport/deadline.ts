import { ApiError, type Fault } from '../errors.ts';

/** The end of a whole call: its caller gives up or its time is up. A listener and a timer that both end with it. */
export class Ending {
  readonly #abort = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #end: number;

  constructor(caller: AbortSignal | undefined, total: number) {
    this.#caller = caller;
    this.#end = performance.now() + total;
    const timeUp = `no answer within ${total} ms`;
    this.#timer = setTimeout(() => this.#finish(timeUp, { kind: 'timeout', phase: 'total' }), total);
    if (caller?.aborted === true) this.#onCallerAbort();
    caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Milliseconds. */
  get remaining(): number {
    return this.#end - performance.now();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = () => this.#finish('was cancelled', { kind: 'cancelled' });

  #finish(message: string, fault: Fault): void {
    // Between two attempts nothing is under way; an attempt that is interrupted says so itself.
    this.#abort.abort(new ApiError(message, fault, { mayHaveExecuted: false }));
  }
}
