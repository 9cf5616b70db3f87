/** The local service: one process for all windows, joined or started on demand. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Fetch } from '../../../api/transport/request.ts';
import type { BaseUrl } from '../../../api/transport/baseUrl.ts';
import { pause, systemClock } from '../../../base/clock.ts';
import { Emitter } from '../../../base/event.ts';
import type { Disposable } from '../../../base/disposable.ts';
import type { Account, Accounts, SecretStore } from '../../account/accounts.ts';
import type { Session } from '../../account/session.ts';
import { setLocalServiceRuns, setLocalServiceStopped } from '../../window/ui/contextKey.ts';
import type { Config } from '../../window/ui/config.ts';
import { isEarlierVersion } from '../../../localService/discover.ts';
import { LocalServiceError, notRunningError, type Lease } from '../../../localService/lease.ts';
import {
  checkPostgres,
  joinOrStartService,
  type LocalServiceOptions,
  type PostgresCheck,
} from '../../../localService/joinOrStart.ts';
import { endService } from '../../../localService/stop.ts';
import type { Log } from '../../window/ui/log.ts';

interface LocalServiceDependencies extends Pick<LocalServiceOptions, 'script' | 'dataDir' | 'grace'> {
  readonly secrets: SecretStore;
  readonly accounts: Accounts;
  /** The version of the extension. */
  readonly version: string;
  readonly config: Pick<Config, 'postgresPath' | 'extensionsPath' | 'trustedExtensions'>;
  readonly log: Pick<Log, 'info' | 'error' | 'addSecret'>;
}

/** Milliseconds that a restarted service runs at least. If it ends sooner, it is in a crash loop and isn't restarted again. */
const SHORTEST_LIFE = 15_000;

/** Milliseconds in which a window of a later version, which has ended the service, starts its own before this one does. */
const REPLACEMENT_TIME = 500;
const MAX_REPLACEMENTS = 3;

const KEY_ENTRY = 'hostedPostgres.localService.key';

export class LocalService implements Disposable {
  readonly #deps: LocalServiceDependencies;
  readonly #postgresChanged = new Emitter<void>();
  readonly #joinedEarlier = new Emitter<void>();
  readonly #lostData = new Emitter<void>();
  #lease: Promise<Lease> | undefined;
  #postgresProblem: string | undefined;
  /** Whether the service that was joined last is of an earlier version. */
  #isEarlier = false;
  #session: Session | undefined;
  /** Whether the service was restarted after an unexpected end. This is reset when the user starts the service. */
  #isRestarted = false;
  #isDisposed = false;
  #runs = false;

  /** Fires when `postgresProblem` has changed. */
  readonly onDidChangePostgres = this.#postgresChanged.event;
  /** Fires when this window has joined a service of an earlier version, which lacks what is new. `start` replaces it. */
  readonly onDidJoinEarlier = this.#joinedEarlier.event;
  /** Fires when the service has started without the data that it had on this machine, so with a new sample. */
  readonly onDidLoseData = this.#lostData.event;

  constructor(deps: LocalServiceDependencies) {
    this.#deps = deps;
    this.#showState(false);
  }

  /** Whether this window uses the running service. */
  get runs(): boolean {
    return this.#runs;
  }

  /** Why the running service can't start computes, as a message for users. */
  get postgresProblem(): string | undefined {
    return this.#postgresProblem;
  }

  /** Joins or starts the service, if this window hasn't done so yet. @throws {Error} why it can't start */
  async join(): Promise<BaseUrl> {
    const isFirst = this.#lease === undefined;
    this.#lease ??= this.#track(this.#joinOrStart());
    const { baseUrl } = await this.#lease;
    if (isFirst) this.#reportEarlier();
    return baseUrl;
  }

  /**
   * Sends the account's requests to the service, but only while this window has a lease: without one, any program may
   * have the port.
   */
  fetchWhileRunning({ baseUrl }: Account, fetch: Fetch): Fetch {
    return async (url, init) => {
      const lease = await this.#lease?.catch(() => undefined);
      if (lease === undefined || lease.ended.aborted || !url.startsWith(`${baseUrl}/`))
        throw notRunningError();
      const current = `${lease.baseUrl}${url.slice(baseUrl.length)}`;
      return await fetch(current, { ...init, signal: AbortSignal.any([init.signal, lease.ended]) });
    };
  }

  /**
   * Starts the service for the user, and connects to it. A service that hangs, has another key, has no Postgres or is of an earlier
   * version is replaced.
   * @throws {Error} why it can't start
   */
  async start(): Promise<void> {
    const previous = this.#lease;
    this.#isRestarted = false;
    const mustReplace = this.#postgresProblem !== undefined || this.#isEarlier;
    this.#lease = this.#track(this.#joinOrReplace(mustReplace));
    await this.#lease.finally(() => void previous?.then((lease) => lease.release()).catch(() => undefined));
    this.#reportEarlier();
    await this.#connect();
  }

  /** @param postgresPath the folder of Postgres; undefined to search for one */
  async checkPostgres(postgresPath: string | undefined): Promise<PostgresCheck> {
    const { script, config } = this.#deps;
    return await checkPostgres(script, { postgresPath, extensionsPath: config.extensionsPath });
  }

  /** Replaces the key of the service for all windows. @throws {Error} if the keyring doesn't keep it */
  async replaceKey(key: string): Promise<void> {
    await this.#deps.secrets.storeDurably(KEY_ENTRY, key);
  }

  /** Stops the service after its key was revoked. The next start creates a new key. */
  async forgetKey(): Promise<void> {
    await this.stop();
    await this.#deps.secrets.delete(KEY_ENTRY);
  }

  /** Starts the service when its account becomes the current one, for example after a reload. */
  follow(session: Session): Disposable {
    this.#session = session;
    return session.onDidChange(({ connection }) => {
      if (connection?.account.local !== true) return;
      this.join().catch((error: unknown) => this.#deps.log.error('Starting the local service', error));
    });
  }

  /** Stops the service for all windows and removes its account. Its state is kept. @returns whether it was running */
  async stop(): Promise<boolean> {
    const { accounts, dataDir, log } = this.#deps;
    await this.#lease?.catch(() => undefined); // This waits for a start in progress.
    // This gives the view its final text at once. A later change of the text would take the focus from the view.
    this.#showState(false);
    // Remove the account first: while it is the current one, windows restart the service.
    const { accounts: all } = await accounts.list();
    for (const account of all) if (account.local === true) await accounts.remove(account);
    const wasRunning = await endService(dataDir);
    if (wasRunning) log.info('Stopped the local service');
    this.#forgetLease();
    return wasRunning;
  }

  /** Releases the lease of this window. Without any lease, the service ends. */
  dispose(): void {
    this.#isDisposed = true;
    for (const emitter of [this.#postgresChanged, this.#joinedEarlier, this.#lostData]) emitter.dispose();
    this.#lease?.then((lease) => lease.release()).catch(() => undefined);
  }

  /**
   * VS Code shares stored accounts between this machine and all remotes, each of which has a separate local service with
   * another address. So the account keeps its first address, which only identifies it.
   */
  async #connect(): Promise<void> {
    const { accounts } = this.#deps;
    const [address, key, last] = [
      await this.join(),
      await this.#readOrCreateKey(),
      await this.#findAccount(),
    ];
    const account: Account = { baseUrl: last?.baseUrl ?? address, name: '', local: true };
    const isSameKey = last?.keyId !== undefined && (await accounts.key(last)) === key;
    await accounts.add(isSameKey ? last : account, key);
  }

  async #findAccount(): Promise<Account | undefined> {
    return (await this.#deps.accounts.list()).accounts.find(({ local }) => local === true);
  }

  async #joinOrStart(): Promise<Lease> {
    const { script, dataDir, version, config, log, grace } = this.#deps;
    const [key, last] = [await this.#readOrCreateKey(), await this.#findAccount()];
    log.addSecret(key);
    const port = last === undefined ? 0 : Number(new URL(last.baseUrl).port);
    const { postgresPath, extensionsPath, trustedExtensions } = config;
    const options = { postgresPath, extensionsPath, trustedExtensions, grace };
    const isLost = existsSync(this.#marker) && !existsSync(dataDir);
    const lease = await joinOrStartService({ script, dataDir, key, port, ...options });
    await writeFile(this.#marker, '').catch((error: unknown) => log.error('Marking the data as used', error));
    if (isLost) this.#lostData.fire();
    if (this.#isDisposed) lease.release();
    log.info(`The local service is running at ${lease.baseUrl}`);
    this.#isEarlier = isEarlierVersion(lease.version, version);
    return lease;
  }

  /** The file that shows that there was a data directory. A secret can't show that, because other machines share secrets. */
  get #marker(): string {
    return `${this.#deps.dataDir}.used`;
  }

  #showState(runs: boolean): void {
    this.#runs = runs;
    setLocalServiceRuns(runs);
    setLocalServiceStopped(!runs && [this.#marker, this.#deps.dataDir].every((path) => existsSync(path)));
  }

  #forgetLease(): void {
    this.#lease = undefined;
    this.#showState(false);
  }

  #reportEarlier(): void {
    if (this.#isEarlier) this.#joinedEarlier.fire();
  }

  async #joinOrReplace(mustReplace: boolean): Promise<Lease> {
    try {
      return await (mustReplace ? this.#replace() : this.#joinOrStart());
    } catch (error) {
      const reason = error instanceof LocalServiceError ? error.reason : undefined;
      // The data belongs to this extension, so it may create a new key.
      if (reason === 'revokedKey') await this.#deps.secrets.delete(KEY_ENTRY);
      else if (reason !== 'silent' && reason !== 'otherKey') throw error;
      this.#deps.log.error('Joining the local service, which is replaced now', error);
      return await this.#replace();
    }
  }

  async #replace(): Promise<Lease> {
    for (let attempts = 1; ; attempts++) {
      await endService(this.#deps.dataDir);
      const lease = await this.#joinOrStart();
      // A window of an earlier version may have been faster to start its service again.
      if (!this.#isEarlier || attempts === MAX_REPLACEMENTS) return lease;
      lease.release();
    }
  }

  /** While this lease is the current one: shows the state of the service, and restarts the service if the lease ends. */
  #track(pending: Promise<Lease>): Promise<Lease> {
    const isCurrent = () => this.#lease === pending;
    pending
      .then(({ ended, postgresProblem }) => {
        if (isCurrent()) this.#showState(true);
        const setProblem = (problem: string | undefined) => {
          if (!isCurrent() || problem === this.#postgresProblem) return;
          this.#postgresProblem = problem;
          this.#postgresChanged.fire();
        };
        postgresProblem.then(setProblem, () => undefined); // The promise rejects only if the lease has ended.
        const startedAt = systemClock.now();
        const onEnd = () => {
          if (!isCurrent()) return;
          this.#forgetLease();
          void this.#restart(systemClock.now() - startedAt);
        };
        if (ended.aborted) onEnd();
        else ended.addEventListener('abort', onEnd);
      })
      .catch(() => (isCurrent() ? this.#forgetLease() : undefined));
    return pending;
  }

  /** Restarts a service that ended unexpectedly if its account is the current one. If that fails, closes the connection. */
  async #restart(lifetime: number): Promise<void> {
    if (this.#isDisposed) return;
    const { accounts, log } = this.#deps;
    const connection = this.#session?.connection;
    const isCrashLoop = this.#isRestarted && lifetime < SHORTEST_LIFE;
    this.#isRestarted = true;
    try {
      const { current } = await accounts.list();
      if (current?.local !== true) return;
      if (isCrashLoop) throw new Error(`It ended again after ${Math.ceil(lifetime)} ms`);
      await pause(REPLACEMENT_TIME);
      await this.join();
    } catch (error) {
      log.error('Restarting the local service', error);
      const failure = new LocalServiceError('ended', 'The local service ended unexpectedly');
      if (connection?.account.local === true) this.#session?.fail(connection, failure);
    }
  }

  async #readOrCreateKey(): Promise<string> {
    const { secrets } = this.#deps;
    const stored = await secrets.get(KEY_ENTRY);
    if (stored !== undefined) return stored;
    const key = randomBytes(32).toString('base64url');
    await secrets.store(KEY_ENTRY, key);
    return key;
  }
}
