/**
 * The stored accounts, each with a base address, a name and an API key. The list, the current account and the keys are only
 * in the secret store, which notifies every window of changes.
 */
import { baseUrlOrUndefined, type BaseUrl } from '../../api/transport/baseUrl.ts';
import { isApiKeyId, isId } from '../../api/records/ids.ts';
import type { CreatedApiKey } from '../../api/records/records.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { Emitter, type Event } from '../../base/event.ts';
import type { Disposable } from '../../base/disposable.ts';
import { NotConnectedError } from '../window/changeErrors.ts';
import { limitConcurrency } from '../../base/limitConcurrency.ts';

/** VS Code's SecretStorage, or a Map in tests. Every call may fail, for example because the keyring is locked. */
export interface SecretStore {
  get(entry: string): Promise<string | undefined>;
  store(entry: string, value: string): Promise<void>;
  /** Like `store`, but rejects unless the value outlives this window. */
  storeDurably(entry: string, value: string): Promise<void>;
  delete(entry: string): Promise<void>;
  /** Fires with the name of an entry that changed, in any window. */
  readonly onDidChange: Event<string>;
}

export interface Account {
  readonly baseUrl: BaseUrl;
  /** Empty for the first account at an address. */
  readonly name: string;
  /** True for the account of the local service, which is started if necessary. */
  readonly local?: true;
  /** The id of the stored key; known only if the extension created the key. */
  readonly keyId?: number | undefined;
  /** The organization whose projects are shown, if the user chose one. */
  readonly organizationId?: string;
  /** The organization's name when the user chose it, if the service listed it. */
  readonly organizationName?: string | undefined;
  /** The only project of a key that can't list projects. */
  readonly projectId?: string;
}

interface AccountList {
  readonly accounts: readonly Account[];
  readonly current: Account | undefined;
}

/** The id of the account of the local service. */
export const LOCAL_ACCOUNT = 'local';

/**
 * Returns an id that is unique for each account, and constant for the local service, whose address changes. It is part of the name
 * of the key's entry.
 */
export function accountId({ baseUrl, name, local }: Account): string {
  if (local === true) return LOCAL_ACCOUNT;
  return name === '' ? baseUrl : `${baseUrl}#${name}`;
}

const LIST_ENTRY = 'hostedPostgres.accounts';
const keyEntry = (account: Account): string => `hostedPostgres.apiKey:${accountId(account)}`;

const isSame = (a: Account, b: Account): boolean => accountId(a) === accountId(b);

/** The accounts in the secret store, and their keys. */
export class Accounts implements Disposable {
  readonly #secrets: SecretStore;
  readonly #changed = new Emitter<void>();
  readonly #subscription: Disposable;
  readonly #oneAtATime = limitConcurrency(1);

  /** Fires when the list, the current account or a key may have changed, here or in another window. */
  readonly onDidChange = this.#changed.event;

  constructor(secrets: SecretStore) {
    this.#secrets = secrets;
    this.#subscription = secrets.onDidChange((entry) => {
      if (entry === LIST_ENTRY || entry.startsWith('hostedPostgres.apiKey:')) this.#changed.fire();
    });
  }

  async list(): Promise<AccountList> {
    return parseList(await this.#secrets.get(LIST_ENTRY));
  }

  key(account: Account): Promise<string | undefined> {
    return this.#secrets.get(keyEntry(account));
  }

  /** Stores the key and makes the account the current one; a stored account gets the new key. */
  add(account: Account, key: string): Promise<void> {
    return this.#write(async ({ accounts }) => {
      await this.#secrets.store(keyEntry(account), key);
      const rest = accounts.filter((stored) => !isSame(stored, account));
      return { accounts: [...rest, account], current: account };
    });
  }

  /** Replaces the key of a stored account, current or not. @throws {Error} if the keyring doesn't keep it */
  async replaceKey(account: Account, { id, key }: CreatedApiKey): Promise<void> {
    // Forget the old id first: if this is interrupted, the new key must not have the old key's id.
    await this.#change(account, { keyId: undefined });
    await this.#change(account, { keyId: id }, () => this.#secrets.storeDurably(keyEntry(account), key));
  }

  /** Sets the organization of a stored account. */
  async setOrganization(account: Account, organizationId: string, organizationName?: string): Promise<void> {
    await this.#change(account, { organizationId, organizationName });
  }

  /** @throws {NotConnectedError} if another window has removed the account */
  #change(account: Account, change: Partial<Account>, before = async () => {}): Promise<void> {
    const changed = (stored: Account) => (isSame(stored, account) ? { ...stored, ...change } : stored);
    return this.#write(async ({ accounts, current }) => {
      if (!accounts.some((stored) => isSame(stored, account))) throw new NotConnectedError();
      await before();
      return { accounts: accounts.map(changed), current };
    });
  }

  /** Makes a stored account the current one, or none. Keys stay. */
  choose(account: Account | undefined): Promise<void> {
    return this.#write(async ({ accounts }) => {
      const current = account && accounts.find((stored) => isSame(stored, account));
      return { accounts, current };
    });
  }

  /** Forgets the account and its key. */
  remove(account: Account): Promise<void> {
    return this.#write(async ({ accounts, current }) => {
      await this.#secrets.delete(keyEntry(account));
      return { accounts: accounts.filter((stored) => !isSame(stored, account)), current };
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  /**
   * Changes the stored list. Each change starts from the result of the previous one. The current account counts only if it is in
   * the list.
   */
  #write(change: (list: AccountList) => Promise<AccountList>): Promise<void> {
    return this.#oneAtATime(async () => {
      const { accounts, current } = await change(await this.list());
      const stored = { accounts, current: current && accountId(current) };
      await this.#secrets.store(LIST_ENTRY, JSON.stringify(stored));
    });
  }
}

const NO_ACCOUNTS: AccountList = { accounts: [], current: undefined };

/** Reads the stored list, without invalid accounts. */
function parseList(text: string | undefined): AccountList {
  if (text === undefined) return NO_ACCOUNTS;
  try {
    const { accounts, current } = fieldsOf(JSON.parse(text));
    const valid = Array.isArray(accounts) ? accounts.flatMap(parseAccount) : [];
    return { accounts: valid, current: valid.find((account) => accountId(account) === current) };
  } catch {
    // The list is damaged. Connecting again replaces it.
    return NO_ACCOUNTS;
  }
}

function parseAccount(value: unknown): Account[] {
  const { baseUrl, name, local, keyId, organizationId, organizationName, projectId } = fieldsOf(value);
  const address = typeof baseUrl === 'string' ? baseUrlOrUndefined(baseUrl) : undefined;
  if (address === undefined || typeof name !== 'string') return [];
  const id = isApiKeyId(keyId) ? { keyId } : {};
  const named = typeof organizationName === 'string' ? { organizationName } : {};
  const organization = isId(organizationId) ? { organizationId, ...named } : {};
  const project = isId(projectId) ? { projectId } : {};
  const known = { ...id, ...organization, ...project };
  return [{ baseUrl: address, name, ...(local === true ? { local } : {}), ...known }];
}
