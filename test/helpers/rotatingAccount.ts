/** An account of the real service, behind a fault proxy, whose key is rotated: before each test it has one key, “laptop”. */
import { Client } from '../../src/api/client.ts';
import { Accounts, type Account } from '../../src/extension/account/accounts.ts';
import { AccountConnection } from '../../src/extension/account/accountConnection.ts';
import {
  rotateKey,
  type RotationRecord,
  type RotationOutcome,
  type RotationDependencies,
} from '../../src/extension/signIn/apiKeys/keyRotation.ts';
import { FaultProxy } from './faultProxy.ts';
import type { LocalService } from './localService.ts';
import { SecretMap } from './secretMap.ts';

type OldKey = NonNullable<Parameters<typeof rotateKey>[2]['oldKey']>;

export class RotatingAccount {
  readonly secrets = new SecretMap();
  readonly accounts: Accounts;
  readonly account: Account;
  readonly proxy: FaultProxy;
  readonly oldKey: OldKey;
  /** The records that are saved. */
  readonly records = new Map<string, RotationRecord>();
  /** Values that the rotation reported as secret. */
  readonly seen: string[] = [];
  readonly #service: LocalService;

  private constructor(service: LocalService, proxy: FaultProxy, oldKey: OldKey, accounts?: Accounts) {
    this.#service = service;
    this.proxy = proxy;
    this.account = { baseUrl: proxy.baseUrl, name: '' };
    this.oldKey = oldKey;
    this.accounts = accounts ?? new Accounts(this.secrets);
  }

  static async start(service: LocalService, accounts?: Accounts): Promise<RotatingAccount> {
    const proxy = await FaultProxy.start({ upstream: service.baseUrl });
    const { id, key } = await service.client.createApiKey('laptop');
    const rotating = new RotatingAccount(service, proxy, { id, name: 'laptop' }, accounts);
    await rotating.accounts.add(rotating.account, key);
    return rotating;
  }

  async stop(): Promise<void> {
    for (const { id } of await this.existing()) await this.#service.client.revokeApiKey(id);
  }

  readonly openClient = async ({ baseUrl }: Account, key: string) =>
    new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 });

  get deps(): RotationDependencies {
    const { accounts, openClient, records } = this;
    const stored = {
      all: () => [...records.values()],
      set: async (id: string, record: RotationRecord) => void records.set(id, record),
      delete: (id: string) => void records.delete(id),
    };
    const onSecret = (value: string) => this.seen.push(value);
    return {
      accounts,
      openClient,
      records: stored,
      accountLabel: 'the account',
      organizationId: undefined,
      onSecret,
    };
  }

  async rotate(
    options: { readonly oldKey?: OldKey | undefined; readonly deps?: Partial<RotationDependencies> } = {},
  ): Promise<RotationOutcome> {
    const connection = new AccountConnection(this.account, await this.storedKey(), this.openClient);
    const keys = { newName: 'laptop 2', oldKey: this.oldKey, ...options };
    return await rotateKey({ ...this.deps, ...options.deps }, connection, keys);
  }

  async storedKey(): Promise<string> {
    return (await this.accounts.key(this.account)) ?? '';
  }

  async storedKeyWorks(): Promise<boolean> {
    const client = await this.openClient(
      { baseUrl: this.#service.baseUrl, name: '' },
      await this.storedKey(),
    );
    return (await client.projectPages().next()).done === false;
  }

  /** This test's keys that are still valid. */
  async existing(): Promise<{ readonly id: number; readonly name: string }[]> {
    const { items } = await this.#service.client.listApiKeys();
    return items
      .filter(({ id, name }) => id >= this.oldKey.id && name.startsWith('laptop'))
      .map(({ id, name }) => ({ id, name }))
      .toSorted((a, b) => a.id - b.id);
  }

  async existingNames(): Promise<string[]> {
    return (await this.existing()).map(({ name }) => name);
  }
}
