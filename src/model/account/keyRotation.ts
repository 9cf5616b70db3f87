/**
 * Replaces the API key of an account: creates a new key, tests it, stores it, and only then revokes the old one. The
 * rotation is kept until it ends, and the new key waits in the keyring, so that a later start can finish it.
 */
import type { CallOptions, Client } from '../../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../../api/errors.ts';
import type { CreatedApiKey } from '../../api/records/records.ts';
import { accountId, type Account, type Accounts } from './accounts.ts';
import type { OpenClient } from './connection.ts';
import type { PendingRotation, PendingRotations } from './pendingRotations.ts';

export interface ExistingKey {
  /** Undefined when the service didn't return it. */
  readonly id: number | undefined;
  readonly name: string;
}

/**
 * - `rotated`: the new key is stored; the old one is revoked, or was to be kept.
 * - `taken`: another key has the name, so nothing was done. `busy`: an earlier rotation is pending.
 * - `unchanged`: failed at `step`, the old key is still in use and no new key exists.
 * The rotation stays pending with the others:
 * - `absent`: the answer to the creation was lost and the list has no new key, though the service may still create it.
 * - `lost`: a new key exists, but its value was lost.
 * - `unfinished`: failed at `step`, and both keys may be valid. Another try may finish it.
 * - `signedOut`: no key of the account can be read.
 */
export type RotationOutcome =
  | { readonly kind: 'rotated'; readonly newKey: ExistingKey }
  | { readonly kind: 'taken' | 'busy' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'unchanged'; readonly step: 'create' | 'prove' | 'store'; readonly error: unknown }
  | { readonly kind: 'absent'; readonly error?: unknown }
  | {
      readonly kind: 'lost';
      readonly newKey: ExistingKey & { readonly id: number };
      readonly error?: unknown;
    }
  | {
      readonly kind: 'unfinished';
      readonly step: 'create' | 'prove' | 'store' | 'revoke';
      readonly error: unknown;
      readonly newKey: ExistingKey;
    };

export interface RotationParts {
  readonly accounts: Pick<Accounts, 'list' | 'key' | 'replaceKey' | 'newKey' | 'keepNewKey' | 'forgetNewKey'>;
  readonly pending: PendingRotations;
  readonly openClient: OpenClient;
  readonly organizationId: string | undefined;
  /** Called with the new value before it is used. */
  readonly onSecret: (value: string) => void;
}

/** @throws {Error} before anything was created: no key is stored, or the list cannot be read */
export async function rotateKey(
  parts: RotationParts,
  account: Account,
  keys: Pick<PendingRotation, 'name' | 'oldKey'>,
  options: CallOptions = {},
): Promise<RotationOutcome> {
  const rotation: PendingRotation = { ...keys, account: accountId(account) };
  const key = await parts.accounts.key(account);
  if (key === undefined) throw new Error('No API key is stored for the account');
  const client = await parts.openClient(account, key);
  const { items } = await client.listApiKeys(options);
  if (items.some(({ name }) => name === rotation.name)) return { kind: 'taken' };
  if (parts.pending.of(rotation.account) !== undefined) return { kind: 'busy' };
  const running = new RunningRotation(parts, rotation, account, key, client);
  try {
    return await parts.pending.run(rotation, () => running.create(options));
  } catch (error) {
    // The rotation could not be kept. Failures of the steps are outcomes.
    return { kind: 'unchanged', step: 'create', error };
  }
}

/** Finishes a rotation that was interrupted, or finds out what it left. Never rejects because of the service. */
export async function resumeRotation(
  parts: RotationParts,
  rotation: PendingRotation,
): Promise<RotationOutcome> {
  const { accounts } = await parts.accounts.list();
  const account = accounts.find((known) => accountId(known) === rotation.account);
  const key = account && (await parts.accounts.key(account));
  if (account === undefined || key === undefined) return { kind: 'signedOut' };
  return await parts.pending.run(rotation, async () => {
    try {
      const client = await parts.openClient(account, key);
      const created = await parts.accounts.newKey(account);
      const running = new RunningRotation(parts, rotation, account, key, client);
      return await (created === undefined ? running.find() : running.finish(created));
    } catch (error) {
      return { kind: 'unfinished', step: 'create', error, newKey: { id: undefined, name: rotation.name } };
    }
  });
}

/** Revokes a new key whose value was lost. @throws {ApiError} */
export async function revokeLost(parts: RotationParts, rotation: PendingRotation, id: number): Promise<void> {
  const { accounts } = await parts.accounts.list();
  const account = accounts.find((known) => accountId(known) === rotation.account);
  const key = account && (await parts.accounts.key(account));
  if (account === undefined || key === undefined) throw new Error('No API key is stored for the account');
  await revokeKey(await parts.openClient(account, key), id);
  await parts.pending.forget(rotation.account);
}

class RunningRotation {
  readonly #parts: RotationParts;
  readonly #rotation: PendingRotation;
  readonly #account: Account;
  readonly #storedKey: string;
  /** Uses the stored key. */
  readonly #client: Client;

  constructor(
    parts: RotationParts,
    rotation: PendingRotation,
    account: Account,
    storedKey: string,
    client: Client,
  ) {
    this.#parts = parts;
    this.#rotation = rotation;
    this.#account = account;
    this.#storedKey = storedKey;
    this.#client = client;
  }

  async create(options: CallOptions): Promise<RotationOutcome> {
    let created: CreatedApiKey;
    try {
      created = await this.#client.createApiKey(this.#rotation.name, options);
    } catch (error) {
      if (isOutcomeUnknown(error)) return await this.find(error);
      return await this.#end({ kind: 'unchanged', step: 'create', error });
    }
    this.#parts.onSecret(created.key);
    try {
      await this.#parts.accounts.keepNewKey(this.#account, created);
    } catch (error) {
      return await this.#withdraw(created, 'store', error);
    }
    return await this.finish(created, options);
  }

  /** Without the new key's value: looks for the key by its name. */
  async find(error?: unknown): Promise<RotationOutcome> {
    const { name, oldKey } = this.#rotation;
    try {
      const { items, unreadable } = await this.#client.listApiKeys();
      const found = items.find((key) => key.name === name && key.id !== oldKey?.id);
      if (found !== undefined) {
        const newKey = { id: found.id, name };
        const isStored = found.id === this.#account.keyId;
        return isStored ? await this.#revokeOld(newKey) : { kind: 'lost', newKey, error };
      }
      if (unreadable.length === 0) return { kind: 'absent', error };
      throw new Error('The list of keys cannot be read');
    } catch (failure) {
      const newKey = { id: undefined, name };
      return { kind: 'unfinished', step: 'create', error: error ?? failure, newKey };
    }
  }

  async finish(created: CreatedApiKey, options: CallOptions = {}): Promise<RotationOutcome> {
    const { accounts, openClient, organizationId } = this.#parts;
    this.#parts.onSecret(created.key);
    const newKey: ExistingKey = { id: created.id, name: this.#rotation.name };
    if (created.key !== this.#storedKey) {
      try {
        const client = await openClient(this.#account, created.key);
        // Every kind of key may list projects; account routes are closed to some (public service).
        await client.projectPages(organizationId, options).next();
      } catch (error) {
        return await this.#withdraw(created, 'prove', error);
      }
    }
    try {
      // From here on nothing is cancelled.
      await accounts.replaceKey(this.#account, created);
    } catch (error) {
      return { kind: 'unfinished', step: 'store', error, newKey };
    }
    return await this.#revokeOld(newKey, created.key);
  }

  async #revokeOld(newKey: ExistingKey, value = this.#storedKey): Promise<RotationOutcome> {
    const { oldKey } = this.#rotation;
    try {
      if (oldKey !== undefined)
        await revokeKey(await this.#parts.openClient(this.#account, value), oldKey.id);
    } catch (error) {
      return { kind: 'unfinished', step: 'revoke', error, newKey };
    }
    return await this.#end({ kind: 'rotated', newKey });
  }

  /** Revokes a new key that isn't used. A key that stays is tried again later, if the keyring has its value. */
  async #withdraw(created: CreatedApiKey, step: 'prove' | 'store', error: unknown): Promise<RotationOutcome> {
    const newKey = { id: created.id, name: this.#rotation.name };
    try {
      await revokeKey(this.#client, created.id);
    } catch {
      return step === 'store' ? { kind: 'lost', newKey, error } : { kind: 'unfinished', step, error, newKey };
    }
    return await this.#end({ kind: 'unchanged', step, error });
  }

  /** What cannot be forgotten is looked at again by the next start, which then finds nothing to do. */
  async #end(outcome: RotationOutcome): Promise<RotationOutcome> {
    await this.#parts.accounts.forgetNewKey(this.#account).catch(() => undefined);
    await this.#parts.pending.forget(this.#rotation.account).catch(() => undefined);
    return outcome;
  }
}

/** @throws {ApiError} unless the key is gone */
async function revokeKey(client: Client, id: number): Promise<void> {
  try {
    await client.revokeApiKey(id);
  } catch (error) {
    if (!isRefused(error, 404) && !(await isMissing(client, id))) throw error;
  }
}

/** Whether the list of keys shows that the key is gone; a missing answer proves nothing. */
async function isMissing(client: Client, id: number): Promise<boolean> {
  try {
    const { items, unreadable } = await client.listApiKeys();
    return unreadable.length === 0 && !items.some((key) => key.id === id);
  } catch {
    return false;
  }
}
