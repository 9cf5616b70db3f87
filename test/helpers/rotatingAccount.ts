/** An account of the real service, behind a fault proxy, whose key is rotated: before each test it has one key, “laptop”. */
import assert from 'node:assert/strict';
import { Client } from '../../src/api/client.ts';
import { Accounts, type Account } from '../../src/model/account/accounts.ts';
import {
  resumeRotation,
  rotateKey,
  type ExistingKey,
  type RotationOutcome,
  type RotationParts,
} from '../../src/model/account/keyRotation.ts';
import { PendingRotations, type PendingRotation } from '../../src/model/account/pendingRotations.ts';
import { MemoryMap } from './connectedStore.ts';
import { FaultProxy } from './faultProxy.ts';
import type { LocalService } from './localService.ts';
import { SecretMap } from './secretMap.ts';

export class RotatingAccount {
  readonly secrets = new SecretMap();
  readonly memory = new MemoryMap();
  readonly account: Account;
  readonly proxy: FaultProxy;
  readonly oldKey: { readonly id: number; readonly name: string };
  /** Values that the rotation reported as secret. */
  readonly seen: string[] = [];
  readonly #service: LocalService;
  accounts = new Accounts(this.secrets);
  pending = new PendingRotations(this.memory);

  private constructor(service: LocalService, proxy: FaultProxy, id: number) {
    this.#service = service;
    this.proxy = proxy;
    this.account = { baseUrl: proxy.baseUrl, name: '' };
    this.oldKey = { id, name: 'laptop' };
  }

  static async start(service: LocalService): Promise<RotatingAccount> {
    const proxy = await FaultProxy.start({ upstream: service.baseUrl });
    const old = await service.client.createApiKey('laptop');
    const rotating = new RotatingAccount(service, proxy, old.id);
    await rotating.accounts.add(rotating.account, old.key);
    return rotating;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    for (const { id } of await this.existing()) await this.#service.client.revokeApiKey(id ?? 0);
  }

  readonly openClient = async ({ baseUrl }: Account, key: string) =>
    new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 });

  get parts(): RotationParts {
    const { accounts, pending, openClient } = this;
    const onSecret = (value: string) => this.seen.push(value);
    return { accounts, pending, openClient, organizationId: undefined, onSecret };
  }

  rotate(more: Partial<PendingRotation> = {}): Promise<RotationOutcome> {
    return rotateKey(this.parts, this.account, { name: 'laptop 2', oldKey: this.oldKey, ...more });
  }

  /** As a window does after a reload, when nothing fails any more. */
  async resume(): Promise<RotationOutcome> {
    this.proxy.clear();
    this.pending = new PendingRotations(this.memory);
    this.accounts = new Accounts(this.secrets);
    return await resumeRotation(this.parts, this.kept());
  }

  kept(): PendingRotation {
    const rotation = this.pending.of(this.account.baseUrl);
    assert.ok(rotation !== undefined, 'a rotation is pending');
    return rotation;
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
  async existing(): Promise<ExistingKey[]> {
    const { items } = await this.#service.client.listApiKeys();
    return items
      .filter(({ id, name }) => id >= this.oldKey.id && name.startsWith('laptop'))
      .map(({ id, name }) => ({ id, name }))
      .toSorted((a, b) => a.id - b.id);
  }
}
