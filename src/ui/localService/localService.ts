/** The local service as the rest of the extension sees it: one for all windows, joined or started on demand. */
import type { Fetch } from '../../api/transport/request.ts';
import type { BaseUrl } from '../../api/baseUrl.ts';
import { systemClock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Account, Accounts, SecretStore } from '../../model/account/accounts.ts';
import type { Session } from '../../model/account/session.ts';
import type { Config } from '../state/config.ts';
import { isLocalServiceError, LocalServiceError } from './localServiceError.ts';
import type { Lease } from './localServiceLease.ts';
import type { LocalServiceOptions } from './localServiceProcess.ts';
import type { Log } from '../log/log.ts';

export interface LocalServiceParts {
  /** The bundled service, and where it keeps its state. */
  readonly script: string;
  readonly dataDir: string;
  readonly secrets: SecretStore;
  readonly accounts: Accounts;
  readonly config: Pick<Config, 'postgresPath'>;
  readonly log: Pick<Log, 'info' | 'error' | 'addSecret'>;
}

/** Milliseconds. A restarted service that ends sooner would only end again. */
const SHORTEST_LIFE = 5000;

const KEY_ENTRY = 'hostedPostgres.localService.key';

export class LocalService implements Disposable {
  readonly #parts: LocalServiceParts;
  #lease: Promise<Lease> | undefined;
  #session: Session | undefined;
  /** It was lost and runs again without the user's doing. */
  #isRestarted = false;
  #isDisposed = false;

  constructor(parts: LocalServiceParts) {
    this.#parts = parts;
  }

  /** Its address, once it runs; joins or starts it unless this window has done so. @throws {Error} why it cannot start */
  async ready(): Promise<BaseUrl> {
    this.#lease ??= this.#hold(this.#joinOrStart());
    return (await this.#lease).baseUrl;
  }

  /** Limits a fetch to the time that this window holds a lease: without one, any program may have the port. */
  whileRunning(fetch: Fetch): Fetch {
    return async (url, init) => {
      const lease = await this.#lease?.catch(() => undefined);
      if (lease === undefined || lease.ended.aborted || !url.startsWith(`${lease.baseUrl}/`))
        throw notRunning();
      return await fetch(url, { ...init, signal: AbortSignal.any([init.signal, lease.ended]) });
    };
  }

  /** On the user's request: makes it the current account, and replaces it if it hangs. @throws {Error} why it cannot start */
  async start(): Promise<void> {
    const last = this.#lease;
    this.#isRestarted = false;
    this.#lease = this.#hold(this.#replaceSilent());
    await this.#lease.finally(() => void last?.then((lease) => lease.release()).catch(() => undefined));
    await this.#connect();
  }

  /** Replaces the key it was started with, for every window. @throws {Error} when the keyring does not keep it */
  async replaceKey(key: string): Promise<void> {
    await this.#parts.secrets.keep(KEY_ENTRY, key);
  }

  /** Its key was revoked: ends it for all windows, so that it starts with a new one the next time. */
  async forgetKey(): Promise<void> {
    await this.stop();
    await this.#parts.secrets.delete(KEY_ENTRY);
  }

  /** Runs it whenever its account becomes the current one, after a reload above all. */
  follow(session: Session): Disposable {
    this.#session = session;
    let last = session.connection;
    return session.onDidChange(({ connection }) => {
      if (connection === last) return;
      last = connection;
      const account = connection?.account;
      if (account?.local !== true) return;
      this.#resume(account).catch((error: unknown) =>
        this.#parts.log.error('Starting the local service', error),
      );
    });
  }

  /** Ends it for all windows and forgets its account; its state stays. @returns whether it ran */
  async stop(): Promise<boolean> {
    const { accounts, dataDir, log } = this.#parts;
    await this.#lease?.catch(() => undefined); // A start in progress.
    // First of all: a window that loses the service runs it again for as long as this is the current account.
    const { accounts: known } = await accounts.list();
    for (const account of known) if (account.local === true) await accounts.remove(account);
    const { endService } = await import('./localServiceProcess.ts');
    const ran = await endService(dataDir);
    if (ran) log.info('The local service was stopped');
    this.#lease = undefined;
    return ran;
  }

  /** Gives back this window's lease: with the last one the service ends. */
  dispose(): void {
    this.#isDisposed = true;
    this.#lease?.then((lease) => lease.release()).catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { accounts } = this.#parts;
    const account: Account = { baseUrl: await this.ready(), name: '', local: true };
    const { accounts: known } = await accounts.list();
    const [key, last] = [await this.#key(), known.find(({ local }) => local === true)];
    // The same key still has the id it had.
    const isSame = last?.keyId !== undefined && (await accounts.key(last)) === key;
    await accounts.add(isSame ? { ...account, keyId: last.keyId } : account, key);
    // Where it ran before.
    for (const old of known)
      if (old.local === true && old.baseUrl !== account.baseUrl) await accounts.remove(old);
  }

  async #resume(account: Account): Promise<void> {
    if ((await this.ready()) !== account.baseUrl) await this.#connect();
  }

  async #joinOrStart(): Promise<Lease> {
    const { joinOrStart } = await import('./localServiceProcess.ts');
    const lease = await joinOrStart(await this.#options()).catch(async (error: unknown) => {
      if (!isLocalServiceError(error) || error.reason !== 'revokedKey') throw error;
      return await this.#startWithNewKey(joinOrStart);
    });
    if (this.#isDisposed) lease.release();
    this.#parts.log.info(`The local service runs at ${lease.baseUrl}`);
    return lease;
  }

  /** Another client revoked the key. The service is this extension's own, so it starts again with a new one. */
  async #startWithNewKey(start: (options: LocalServiceOptions) => Promise<Lease>): Promise<Lease> {
    const { secrets, accounts } = this.#parts;
    await secrets.delete(KEY_ENTRY);
    const lease = await start(await this.#options());
    const { current } = await accounts.list();
    const account: Account = { baseUrl: lease.baseUrl, name: '', local: true };
    if (current?.local === true) await accounts.add(account, await this.#key());
    return lease;
  }

  async #replaceSilent(): Promise<Lease> {
    try {
      return await this.#joinOrStart();
    } catch (error) {
      if (!isLocalServiceError(error) || error.reason !== 'silent') throw error;
      this.#parts.log.error('Joining the local service, which is ended now', error);
      const { endService } = await import('./localServiceProcess.ts');
      await endService(this.#parts.dataDir);
      return await this.#joinOrStart();
    }
  }

  /** Notices its end, unless another lease has taken its place by then. */
  #hold(pending: Promise<Lease>): Promise<Lease> {
    const forget = () => {
      const isCurrent = this.#lease === pending;
      if (isCurrent) this.#lease = undefined;
      return isCurrent;
    };
    pending.then(({ ended }) => {
      const since = systemClock.now();
      const onEnd = () => {
        if (forget()) void this.#lost(systemClock.now() - since);
      };
      if (ended.aborted) onEnd();
      else ended.addEventListener('abort', onEnd);
    }, forget);
    return pending;
  }

  /** It was killed, or has crashed, or was stopped. If it is still wanted, it runs again, or its connection ends. */
  async #lost(lifetime: number): Promise<void> {
    if (this.#isDisposed) return;
    const { accounts, log } = this.#parts;
    const connection = this.#session?.connection;
    const isCrashLoop = this.#isRestarted && lifetime < SHORTEST_LIFE;
    this.#isRestarted = true;
    try {
      const { current } = await accounts.list();
      if (current?.local !== true) return;
      if (isCrashLoop) throw new Error(`It ended again within ${Math.ceil(lifetime)} ms`);
      await this.#resume(current);
    } catch (error) {
      log.error('Running the local service again', error);
      const failure = new LocalServiceError('ended', 'The local service has ended', error);
      if (connection?.account.local === true) this.#session?.end(connection, failure);
    }
  }

  async #options(): Promise<LocalServiceOptions> {
    const { script, dataDir, accounts, config, log } = this.#parts;
    const key = await this.#key();
    log.addSecret(key);
    const last = (await accounts.list()).accounts.find((account) => account.local === true);
    const port = last === undefined ? 0 : Number(new URL(last.baseUrl).port);
    return { script, dataDir, key, port, postgresPath: config.postgresPath };
  }

  async #key(): Promise<string> {
    const { secrets } = this.#parts;
    const known = await secrets.get(KEY_ENTRY);
    if (known !== undefined) return known;
    const { randomBytes } = await import('node:crypto');
    const key = randomBytes(32).toString('base64url');
    await secrets.store(KEY_ENTRY, key);
    return key;
  }
}

/** To the client it is what it is to the user: no listener at the address. */
const notRunning = (): Error =>
  Object.assign(new Error('The local service does not run'), { code: 'ECONNREFUSED' });
