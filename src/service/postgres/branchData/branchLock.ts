/** Who may use a branch's data at the same time. */
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import type { Postmaster } from '../server/postmaster.ts';

/** A readers–writer lock. A writer waits for all earlier work, a reader for earlier writers only. */
class SharedLock {
  #lastWriter: Promise<unknown> = Promise.resolve();
  readonly #readers = new Set<Promise<unknown>>();

  /** Runs `work` alone. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.allSettled([this.#lastWriter, ...this.#readers]).then(work);
    this.#lastWriter = result;
    return result;
  }

  /** Runs `work` together with others that share the lock. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.allSettled([this.#lastWriter]).then(work);
    this.#readers.add(result);
    return result.finally(() => this.#readers.delete(result));
  }
}

/**
 * The lock of a branch's data: exclusive for starting or stopping the primary, shared for reading or copying the data. Do not take
 * it again inside the work, which would wait for itself.
 */
export class BranchLock<Server extends Pick<Postmaster, 'stop'> = Postmaster> extends SharedLock {
  /** A server for work that holds the shared lock while no primary runs. */
  readonly ownServer = new OwnServer<Server>();
  /** Runs the creation of the data one at a time. */
  readonly creation = limitConcurrency(1);
  /** Runs the starts of read replicas one at a time: a start that copies the data needs a replication slot. */
  readonly replicas = limitConcurrency(1);
}

interface Session<Server> {
  users: number;
  readonly server: Promise<Server>;
  /** Stops the server. Resolves when it has ended. */
  readonly end: () => Promise<void>;
}

/** The service's own server on a branch: runs while it has users, who share it. */
class OwnServer<Server extends Pick<Postmaster, 'stop'>> {
  /** The server holds this lock exclusively. Work that must not run next to such a server shares the lock. */
  readonly #lock = new SharedLock();
  #session: Session<Server> | undefined;

  /** Whether it has users. It may still be starting. */
  get isUsed(): boolean {
    return this.#session !== undefined;
  }

  /**
   * Keeps the server from starting until `work` has ended. Don't call this while the server is used: `work` would wait for its
   * users.
   */
  async without<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.shared(work);
  }

  /** Starts the server for the first user. Waits for its end after the last one. */
  async use<T>(start: () => Promise<Server>, work: (server: Server) => Promise<T>): Promise<T> {
    const session = (this.#session ??= this.#open(start));
    session.users += 1;
    try {
      return await work(await session.server);
    } finally {
      session.users -= 1;
      if (session.users === 0) {
        this.#session = undefined;
        await session.end();
      }
    }
  }

  #open(start: () => Promise<Server>): Session<Server> {
    const started = Promise.withResolvers<Server>();
    const unused = Promise.withResolvers<undefined>();
    const ended = this.#lock.exclusive(async () => {
      started.resolve(start());
      await unused.promise;
      await started.promise.then(
        async (server) => server.stop(),
        () => undefined, // Callers that use the server get the error.
      );
    });
    const end = async () => {
      unused.resolve(undefined);
      return ended;
    };
    return { users: 0, server: started.promise, end };
  }
}
