/** Limits what WebSockets send before their login is complete, because a message stays in memory until its end. */
import type { Duplex } from 'node:stream';

/** The limit for all WebSockets together. One of them may send a large first query with its login. */
const MAX_EARLY_BYTES = 64 * 1024 * 1024;

/** Counts the bytes of WebSockets that haven't logged in. */
export class EarlyBytes {
  readonly #bytes = new Map<Duplex, number>();
  #total = 0;

  /**
   * Counts what a WebSocket sends. When all have sent too much, the one that has sent most is disconnected.
   * @returns a function that ends the count
   */
  count(socket: Duplex): () => void {
    const add = (chunk: Buffer) => {
      this.#add(socket, chunk.length);
      if (this.#total > MAX_EARLY_BYTES) this.#disconnectLargest();
    };
    const end = () => {
      socket.off('data', add).off('close', end);
      this.#remove(socket);
    };
    socket.on('data', add).once('close', end);
    return end;
  }

  #add(socket: Duplex, bytes: number): void {
    this.#bytes.set(socket, (this.#bytes.get(socket) ?? 0) + bytes);
    this.#total += bytes;
  }

  #remove(socket: Duplex): void {
    this.#total -= this.#bytes.get(socket) ?? 0;
    this.#bytes.delete(socket);
  }

  #disconnectLargest(): void {
    const [largest] = [...this.#bytes].reduce((most, next) => (next[1] > most[1] ? next : most));
    // It closes later. Until then, its bytes must not disconnect another one.
    this.#remove(largest);
    largest.destroy();
  }
}
