/** The local service as the rest of the extension sees it: one for all windows, joined or started on demand. */
import type { BaseUrl } from '../api/baseUrl.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Account, Accounts, SecretStore } from '../model/accounts.ts';
import type { Session } from '../model/session.ts';
import type { Config } from './config.ts';
import type { LocalServiceOptions, RunningService } from './localServiceProcess.ts';
import type { Log } from './log.ts';

export interface LocalServiceParts {
  /** The bundled service, and where it keeps its state. */
  readonly script: string;
  readonly dataDir: string;
  readonly secrets: SecretStore;
  readonly accounts: Accounts;
  readonly config: Pick<Config, 'postgresPath'>;
  readonly log: Pick<Log, 'info' | 'error' | 'keepOut'>;
}

/** Milliseconds: what ends sooner than this would only end again. */
const SHORTEST_LIFE = 5000;

const KEY_ENTRY = 'hostedPostgres.localService.key';

export class LocalService implements Disposable {
  readonly #parts: LocalServiceParts;
  #running: Promise<RunningService> | undefined;
  #isDisposed = false;

  constructor(parts: LocalServiceParts) {
    this.#parts = parts;
  }

  /** Its address, once it runs; joins or starts it unless this window has done so. @throws {Error} why it cannot start */
  async ready(): Promise<BaseUrl> {
    this.#running ??= this.#joinOrStart();
    return (await this.#running).baseUrl;
  }

  /** Makes it the current account. @throws {Error} why it cannot start */
  async connect(): Promise<void> {
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

  /** Takes a new key for the one it was started with, so that every window goes on with it. */
  async replaceKey(key: string): Promise<void> {
    await this.#parts.secrets.store(KEY_ENTRY, key);
  }

  /** Its key was revoked: ends it for all windows, so that it starts with a new one the next time. */
  async forgetKey(): Promise<void> {
    await this.stop();
    await this.#parts.secrets.delete(KEY_ENTRY);
  }

  /** Runs it whenever its account becomes the current one, after a reload above all. */
  follow(session: Session): Disposable {
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
    const { accounts, log } = this.#parts;
    const running = await (this.#running ?? this.#join());
    // First of all: a window that loses the service runs it again for as long as this is the current account.
    const { accounts: known } = await accounts.list();
    for (const account of known) if (account.local === true) await accounts.remove(account);
    if (running !== undefined) {
      process.kill(running.pid, 'SIGTERM');
      await running.ended;
      log.info('The local service was stopped');
    }
    this.#running = undefined;
    return running !== undefined;
  }

  /** Gives back this window's lease: with the last one the service ends. */
  dispose(): void {
    this.#isDisposed = true;
    this.#running?.then((running) => running.release()).catch(() => undefined);
  }

  async #resume(account: Account): Promise<void> {
    if ((await this.ready()) !== account.baseUrl) await this.connect();
  }

  async #joinOrStart(): Promise<RunningService> {
    try {
      const { joinOrStart } = await import('./localServiceProcess.ts');
      const running = await joinOrStart(await this.#options());
      if (this.#isDisposed) running.release();
      this.#parts.log.info(`The local service runs at ${running.baseUrl}`);
      const since = Date.now();
      void running.ended.then(() => this.#lost(since));
      return running;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  async #join(): Promise<RunningService | undefined> {
    const { join } = await import('./localServiceProcess.ts');
    return await join(await this.#options());
  }

  /** It was killed, or has crashed, or was stopped: only if it is still wanted, it runs again. */
  async #lost(since: number): Promise<void> {
    const { accounts, log } = this.#parts;
    this.#forget();
    if (this.#isDisposed || Date.now() - since < SHORTEST_LIFE) return;
    try {
      const { current } = await accounts.list();
      if (current?.local === true) await this.#resume(current);
    } catch (error) {
      log.error('Running the local service again', error);
    }
  }

  /** The next use joins or starts it anew. */
  #forget(): void {
    this.#running = undefined;
  }

  async #options(): Promise<LocalServiceOptions> {
    const { script, dataDir, accounts, config, log } = this.#parts;
    const key = await this.#key();
    log.keepOut(key);
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
