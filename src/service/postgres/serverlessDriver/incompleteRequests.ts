/** Limits the time and number of clients that haven't sent a whole request yet, and thus haven't logged in. */
import type { Duplex } from 'node:stream';

/** The limit in milliseconds for a whole request, head and body, however often the client sends a part. */
const REQUEST_LIMIT = 60_000;

/** Disconnects clients that take too long to send a request. */
export class IncompleteRequests {
  /** The timers of the clients. The client that has waited longest comes first. */
  readonly #timers = new Map<Duplex, NodeJS.Timeout>();

  /** Begins the client's time to send a whole request. Does nothing if that time is running already. */
  begin(client: Duplex): void {
    if (client.destroyed || this.#timers.has(client)) return;
    this.#timers.set(
      client,
      setTimeout(() => this.#disconnect(client), REQUEST_LIMIT),
    );
  }

  end(client: Duplex): void {
    clearTimeout(this.#timers.get(client));
    this.#timers.delete(client);
  }

  /**
   * Disconnects the client that has waited longest, to make room for another one. Ordinary clients send a request in milliseconds.
   * @returns whether there was one
   */
  disconnectSlowest(): boolean {
    const [slowest] = this.#timers.keys();
    if (slowest !== undefined) this.#disconnect(slowest);
    return slowest !== undefined;
  }

  #disconnect(client: Duplex): void {
    this.end(client);
    client.destroy();
  }
}
