import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The requests of one connection, answered in order and one at a time, so that each sees what those before it did. While
 * one waits, the connection is not read: a client that never reads its answers holds one answer, and the requests that
 * came with one read.
 */
export class RequestQueue {
  readonly #socket: Socket;
  readonly #waiting: (() => void)[] = [];
  #newest: ServerResponse | undefined;
  #isBusy = false;
  #isEnding = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('drain', this.#hold);
  }

  /** Whether the client has sent nothing so far. */
  get isUnused(): boolean {
    return this.#socket.bytesRead === 0;
  }

  add(listener: RequestListener, ...[request, response]: Parameters<RequestListener>): void {
    this.#newest = response;
    response.once('close', this.#next);
    this.#inTurn(() => listener(request, response));
  }

  /**
   * Ends the connection because of bytes that are no request, or of a request that took too long.
   * @param answer writes the reason and ends the socket; called when the requests before it have their answers
   */
  end(answer: () => void): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#newest?.req.complete !== false) this.#inTurn(answer);
    // The newest request is the one that is broken: its body has not ended.
    else if (this.#waiting.length > 0) this.#waiting.splice(-1, 1, answer);
    else if (this.#newest.headersSent) this.#socket.destroy();
    else answer();
  }

  #inTurn(answer: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push(answer);
      this.#hold();
      return;
    }
    this.#isBusy = true;
    answer();
  }

  readonly #next = (): void => {
    if (this.#waiting.length === 0) this.#isBusy = false;
    // Requests of other connections come in between.
    else setImmediate(this.#answerNext);
  };

  readonly #answerNext = (): void => {
    const answer = this.#waiting.shift();
    if (!this.#socket.writable) this.#waiting.length = 0;
    if (this.#waiting.length === 0) this.#socket.resume();
    if (this.#socket.writable) answer?.();
  };

  /** Node resumes the socket after each message and each drain, with `process.nextTick`: a microtask runs after that. */
  readonly #hold = (): void => {
    queueMicrotask(() => {
      if (this.#waiting.length > 0) this.#socket.pause();
    });
  };
}
