/**
 * Puts a new API key in the place of the one an account uses: creates it, proves that it works, stores it, and only
 * then revokes the old one. Whatever fails on the way, the account is left with a stored key that works, and the
 * outcome tells which keys exist.
 */
import type { CallOptions, Client } from '../api/client.ts';
import { isOutcomeUnknown, isRefused } from '../api/errors.ts';
import type { CreatedApiKey } from '../api/records.ts';
import type { Account, Accounts } from './accounts.ts';
import type { OpenClient } from './connection.ts';

/** An API key that exists on the service, as far as its owner has to know. */
export interface ExistingKey {
  /** Undefined where the service did not tell it. */
  readonly id: number | undefined;
  readonly name: string;
}

/**
 * - `rotated`: the new key is stored; the old one is revoked, or was to be kept.
 * - `create`, `prove`, `store`: failed there, and the old key is still the stored one. `left` is what was created all
 *   the same and could not be revoked.
 * - `revoke`: the new key is stored and works; the old one may still be valid.
 */
export type RotationOutcome =
  | { readonly kind: 'rotated'; readonly newKey: ExistingKey }
  | {
      readonly kind: 'create' | 'prove' | 'store';
      readonly error: unknown;
      readonly left: ExistingKey | undefined;
    }
  | { readonly kind: 'revoke'; readonly error: unknown; readonly newKey: ExistingKey };

export interface Rotation {
  readonly account: Account;
  /** Of the new key. */
  readonly name: string;
  /** The old key's id; undefined leaves the old key valid. */
  readonly oldKeyId: number | undefined;
  readonly organizationId: string | undefined;
}

export interface RotationParts {
  readonly accounts: Pick<Accounts, 'key' | 'add'>;
  readonly openClient: OpenClient;
  /** Told of the new value before anything is done with it. */
  readonly onSecret: (value: string) => void;
}

/** @throws {Error} before anything was created: no key is stored for the account */
export async function rotateKey(
  parts: RotationParts,
  rotation: Rotation,
  options: CallOptions = {},
): Promise<RotationOutcome> {
  const { account, name } = rotation;
  const oldKey = await parts.accounts.key(account);
  if (oldKey === undefined) throw new Error('No API key is stored for the account');
  const old = await parts.openClient(account, oldKey);
  const before = await idsOf(old, options);
  let created: CreatedApiKey;
  try {
    created = await old.createApiKey(name, options);
  } catch (error) {
    const isLost = isOutcomeUnknown(error);
    return { kind: 'create', error, left: isLost ? await withdrawLost(old, name, before) : undefined };
  }
  parts.onSecret(created.key);
  const newKey: ExistingKey = { id: created.id, name };
  const client = await parts.openClient(account, created.key);
  try {
    // Every kind of key may list projects; account routes are closed to some (public service).
    await client.projectPages(rotation.organizationId, options).next();
  } catch (error) {
    return { kind: 'prove', error, left: await withdraw(old, newKey) };
  }
  return await putInPlace(parts, rotation, { oldKey, old, client, created });
}

interface Keys {
  readonly oldKey: string;
  readonly old: Client;
  readonly client: Client;
  readonly created: CreatedApiKey;
}

/** From here on giving up would leave two keys, so nothing is cancelled any more. */
async function putInPlace(parts: RotationParts, rotation: Rotation, keys: Keys): Promise<RotationOutcome> {
  const { oldKey, old, client, created } = keys;
  const newKey: ExistingKey = { id: created.id, name: rotation.name };
  try {
    await parts.accounts.add({ ...rotation.account, keyId: created.id }, created.key);
  } catch (error) {
    return {
      kind: 'store',
      error,
      left: await putBack(parts, rotation, oldKey, () => withdraw(old, newKey), newKey),
    };
  }
  if (rotation.oldKeyId === undefined) return { kind: 'rotated', newKey };
  try {
    await client.revokeApiKey(rotation.oldKeyId);
    return { kind: 'rotated', newKey };
  } catch (error) {
    const isGone = isRefused(error, 404) || (await isMissing(client, rotation.oldKeyId));
    return isGone ? { kind: 'rotated', newKey } : { kind: 'revoke', error, newKey };
  }
}

/** The store may have taken the new key before it failed: the new one is revoked only when the old one is stored. */
async function putBack(
  { accounts }: RotationParts,
  { account }: Rotation,
  oldKey: string,
  withdrawNew: () => Promise<ExistingKey | undefined>,
  newKey: ExistingKey,
): Promise<ExistingKey | undefined> {
  const stored = () => accounts.key(account).catch(() => undefined);
  if ((await stored()) !== oldKey) await accounts.add(account, oldKey).catch(() => undefined);
  return (await stored()) === oldKey ? await withdrawNew() : newKey;
}

/** Revokes a key that came to nothing. @returns the key if it is still there */
async function withdraw(client: Client, key: ExistingKey): Promise<ExistingKey | undefined> {
  if (key.id === undefined) return key;
  try {
    await client.revokeApiKey(key.id);
    return undefined;
  } catch (error) {
    return isRefused(error, 404) ? undefined : key;
  }
}

/** The answer to creating was lost: a key of that name that was not there before is ours, and its value nobody knows. */
async function withdrawLost(
  client: Client,
  name: string,
  before: ReadonlySet<number> | undefined,
): Promise<ExistingKey | undefined> {
  const unknown = { id: undefined, name };
  try {
    const { items } = await client.listApiKeys();
    const added = items.filter((key) => key.name === name && before?.has(key.id) === false);
    const [only] = added;
    if (before === undefined || added.length > 1) return unknown;
    return only && (await withdraw(client, { id: only.id, name }));
  } catch {
    // Whether it was created cannot be told now.
    return unknown;
  }
}

async function idsOf(client: Client, options: CallOptions): Promise<ReadonlySet<number> | undefined> {
  const { items, unreadable } = await client.listApiKeys(options);
  return unreadable.length > 0 ? undefined : new Set(items.map(({ id }) => id));
}

/** Whether a list of keys shows that this one is gone; an answer that does not come is no proof. */
async function isMissing(client: Client, id: number): Promise<boolean> {
  try {
    const { items, unreadable } = await client.listApiKeys();
    return unreadable.length === 0 && !items.some((key) => key.id === id);
  } catch {
    return false;
  }
}
