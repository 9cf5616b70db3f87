/**
 * Replaces the API key of an account: creates a new key, tests it, stores it, and only then revokes the old one. The
 * rotation is kept until it ends, and the new key waits in the keyring, so that a later start can finish it.
 */
import type { CallOptions, Client } from '../../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../../api/errors.ts';
import type { CreatedApiKey } from '../../api/records/records.ts';
import { accountId, type Account, type Accounts } from './accounts.ts';
import type { Connection, OpenClient } from './connection.ts';
import type { PendingRotation, PendingRotations } from './pendingRotations.ts';

export interface ExistingKey {
  /** Undefined when the service didn't return it. */
  readonly id: number | undefined;
  readonly name: string;
}

/**
 * - `rotated`: the new key is stored; the old one is revoked, or was to be kept.
 * Nothing was done:
 * - `taken`: another key has the name.
 * - `busy`: a rotation of the account is pending, here or in another window.
 * - `changed`: another window has replaced the key, or removed the account.
 * - `unchanged`: failed at `step`. The old key is still in use and no new key exists.
 * The rotation stays pending with the others:
 * - `absent`: the answer to the creation was lost and the list has no new key, though the service may still create it.
 * - `lost`: a new key exists, but its value was lost.
 * - `unfinished`: failed at `step`, and both keys may be valid. Another try may finish it.
 * - `signedOut`: no key of the account can be read.
 */
export type RotationOutcome =
  | { readonly kind: 'rotated'; readonly newKey: ExistingKey }
  | { readonly kind: 'taken' | 'busy' | 'changed' }
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

/** Never rejects. @param connection the one whose key is replaced */
export async function rotateKey(
  parts: RotationParts,
  connection: Connection,
  keys: Pick<PendingRotation, 'name' | 'oldKey'>,
  options: CallOptions = {},
): Promise<RotationOutcome> {
  const rotation = { ...keys, account: accountId(connection.account) };
  const create = async () => {
    // Read once the rotation is pending, so that no other window rotates the key from here on.
    const running = await openRotation(parts, rotation);
    return running?.uses(connection) === true
      ? await running.create(options)
      : ({ kind: 'changed' } as const);
  };
  const work = () => create().catch((error: unknown) => unchanged('create', error));
  try {
    const outcome = await parts.pending.begin(rotation, () => ending(parts, rotation, work));
    return outcome ?? { kind: 'busy' };
  } catch (error) {
    return unchanged('create', error);
  }
}

/** Finishes a rotation that was interrupted, or finds out what it left. Never rejects. */
export async function resumeRotation(
  parts: RotationParts,
  rotation: PendingRotation,
): Promise<RotationOutcome> {
  const resume = async (): Promise<RotationOutcome> => {
    const running = await openRotation(parts, rotation);
    return running === undefined ? { kind: 'signedOut' } : await running.resume();
  };
  const newKey = { id: undefined, name: rotation.name };
  const work = () =>
    resume().catch((error: unknown) => ({ kind: 'unfinished', step: 'create', error, newKey }) as const);
  return await parts.pending.run(rotation.account, () => ending(parts, rotation, work));
}

/** Revokes a new key whose value was lost. @throws {ApiError} */
export async function revokeLost(parts: RotationParts, rotation: PendingRotation, id: number): Promise<void> {
  const running = await openRotation(parts, rotation);
  if (running === undefined) throw new Error('No API key is stored for the account');
  await running.revoke(id);
  await parts.pending.forget(rotation.account);
}

/** @returns undefined if no key is stored for the account */
async function openRotation(
  parts: RotationParts,
  rotation: PendingRotation,
): Promise<RunningRotation | undefined> {
  const { accounts } = await parts.accounts.list();
  const account = accounts.find((known) => accountId(known) === rotation.account);
  const key = account && (await parts.accounts.key(account));
  if (account === undefined || key === undefined) return undefined;
  return new RunningRotation(parts, rotation, account, key, await parts.openClient(account, key));
}

/** After these nothing is left to do. */
const ENDS: ReadonlySet<RotationOutcome['kind']> = new Set(['rotated', 'taken', 'changed', 'unchanged']);

/** A rotation that cannot be forgotten is resumed by the next start, which then finds nothing to do. */
async function ending(
  { accounts, pending }: RotationParts,
  rotation: PendingRotation,
  work: () => Promise<RotationOutcome>,
): Promise<RotationOutcome> {
  const outcome = await work();
  if (!ENDS.has(outcome.kind)) return outcome;
  await accounts.forgetNewKey(rotation.account).catch(() => undefined);
  await pending.forget(rotation.account).catch(() => undefined);
  return outcome;
}

const unchanged = (step: 'create' | 'prove' | 'store', error: unknown) =>
  ({ kind: 'unchanged', step, error }) as const;

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

  uses(connection: Connection): boolean {
    return connection.hasKey(this.#storedKey);
  }

  /** @throws {ApiError} before a key was created */
  async create(options: CallOptions): Promise<RotationOutcome> {
    const { name } = this.#rotation;
    const { items } = await this.#client.listApiKeys(options);
    if (items.some((key) => key.name === name)) return { kind: 'taken' };
    let created: CreatedApiKey;
    try {
      created = await this.#client.createApiKey(name, options);
    } catch (error) {
      return isOutcomeUnknown(error) ? await this.#find(error) : unchanged('create', error);
    }
    this.#parts.onSecret(created.key);
    try {
      await this.#parts.accounts.keepNewKey(this.#account, created);
    } catch (error) {
      return await this.#withdraw(created, 'store', error);
    }
    return await this.#finish(created, options);
  }

  async resume(): Promise<RotationOutcome> {
    const created = await this.#parts.accounts.newKey(this.#account);
    return await (created === undefined ? this.#find() : this.#finish(created));
  }

  /** @throws {ApiError} unless the key is gone */
  async revoke(id: number): Promise<void> {
    await revokeKey(this.#client, id);
  }

  /** Without the new key's value: looks for the key by its name. */
  async #find(error?: unknown): Promise<RotationOutcome> {
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

  async #finish(created: CreatedApiKey, options: CallOptions = {}): Promise<RotationOutcome> {
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
    return { kind: 'rotated', newKey };
  }

  /** Revokes a new key that isn't used. A key that stays is tried again later, if the keyring has its value. */
  async #withdraw(created: CreatedApiKey, step: 'prove' | 'store', error: unknown): Promise<RotationOutcome> {
    const newKey = { id: created.id, name: this.#rotation.name };
    try {
      await this.revoke(created.id);
    } catch {
      return step === 'store' ? { kind: 'lost', newKey, error } : { kind: 'unfinished', step, error, newKey };
    }
    return unchanged(step, error);
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
