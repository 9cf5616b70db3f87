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
 * With these, the rotation stays pending:
 * - `absent`: the answer to the creation was lost and the list has no new key, though the service may still create it.
 * - `lost`: a new key exists, but its value was lost.
 * - `unfinished`: failed at `step`, and both keys may be valid. Another try may finish it.
 * - `signedOut`: no key of the account can be read.
 */
export type RotationOutcome =
  | { readonly kind: 'rotated'; readonly newKey: ExistingKey }
  | { readonly kind: 'taken' | 'busy' | 'changed' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'unchanged'; readonly step: 'create' | 'test' | 'store'; readonly error: unknown }
  | { readonly kind: 'absent'; readonly error?: unknown }
  | {
      readonly kind: 'lost';
      readonly newKey: ExistingKey & { readonly id: number };
      readonly error?: unknown;
    }
  | {
      readonly kind: 'unfinished';
      readonly step: 'create' | 'test' | 'store' | 'revoke';
      readonly error: unknown;
      readonly newKey: ExistingKey;
    };

export interface RotationParts {
  readonly accounts: Pick<Accounts, 'list' | 'key' | 'replaceKey' | 'newKey' | 'keepNewKey' | 'forgetNewKey'>;
  readonly pending: PendingRotations;
  readonly openClient: OpenClient;
  readonly organizationId: (account: Account) => string | undefined;
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
  const work = async (): Promise<RotationOutcome> => {
    // Read once the rotation is pending, so that no other window rotates the key from here on.
    const open = await openRotation(parts, rotation);
    return open !== undefined && connection.hasKey(open.storedKey)
      ? createNewKey(open, options)
      : { kind: 'changed' };
  };
  const onError = (error: unknown) => unchanged('create', error);
  try {
    const outcome = await parts.pending.begin(rotation, () => runToEnd(parts, rotation, work, onError));
    return outcome ?? { kind: 'busy' };
  } catch (error) {
    return onError(error);
  }
}

/** Finishes a rotation that was interrupted, or finds out what it left. Never rejects. */
export async function resumeRotation(
  parts: RotationParts,
  rotation: PendingRotation,
): Promise<RotationOutcome> {
  const work = async (): Promise<RotationOutcome> => {
    const open = await openRotation(parts, rotation);
    if (open === undefined) return { kind: 'signedOut' };
    const created = await parts.accounts.newKey(open.account);
    return await (created === undefined ? findNewKey(open) : useNewKey(open, created));
  };
  const onError = (error: unknown) => mayExist(rotation.name, error);
  return await parts.pending.run(rotation.account, () => runToEnd(parts, rotation, work, onError));
}

/** Revokes a new key whose value was lost. @throws {ApiError} */
export async function revokeLost(parts: RotationParts, rotation: PendingRotation, id: number): Promise<void> {
  const open = await openRotation(parts, rotation);
  if (open === undefined) throw new Error('No API key is stored for the account');
  await ensureRevoked(open.client, id);
  await parts.pending.forget(rotation.account);
}

/** A rotation and the key that is stored now. */
interface OpenRotation extends RotationParts {
  readonly rotation: PendingRotation;
  readonly account: Account;
  readonly storedKey: string;
  /** Uses the stored key. */
  readonly client: Client;
}

/** @returns undefined if no key is stored for the account */
async function openRotation(
  parts: RotationParts,
  rotation: PendingRotation,
): Promise<OpenRotation | undefined> {
  const { accounts } = await parts.accounts.list();
  const account = accounts.find((known) => accountId(known) === rotation.account);
  const storedKey = account && (await parts.accounts.key(account));
  if (account === undefined || storedKey === undefined) return undefined;
  return { ...parts, rotation, account, storedKey, client: await parts.openClient(account, storedKey) };
}

/** After these nothing is left to do. */
const ENDS: ReadonlySet<RotationOutcome['kind']> = new Set(['rotated', 'taken', 'changed', 'unchanged']);

async function runToEnd(
  { accounts, pending }: RotationParts,
  { account }: PendingRotation,
  work: () => Promise<RotationOutcome>,
  onError: (error: unknown) => RotationOutcome,
): Promise<RotationOutcome> {
  const outcome = await work().catch(onError);
  if (!ENDS.has(outcome.kind)) return outcome;
  // If a rotation cannot be forgotten, the next start resumes it and finds nothing to do.
  await accounts.forgetNewKey(account).catch(() => undefined);
  await pending.forget(account).catch(() => undefined);
  return outcome;
}

/** @throws {ApiError} if no key was created */
async function createNewKey(open: OpenRotation, options: CallOptions): Promise<RotationOutcome> {
  const { client, accounts, account, rotation, onSecret } = open;
  const { name } = rotation;
  const { items } = await client.listApiKeys(options);
  if (items.some((key) => key.name === name)) return { kind: 'taken' };
  let created: CreatedApiKey;
  try {
    created = await client.createApiKey(name, options);
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    return await findNewKey(open, error).catch(() => mayExist(name, error));
  }
  onSecret(created.key);
  try {
    await accounts.keepNewKey(account, created);
  } catch (error) {
    if (await tryRevoke(client, created.id)) return unchanged('store', error);
    return { kind: 'lost', newKey: { id: created.id, name }, error };
  }
  return await useNewKey(open, created, options);
}

/** Without the new key's value: looks for the key by its name. @throws {ApiError} */
async function findNewKey(open: OpenRotation, error?: unknown): Promise<RotationOutcome> {
  const { name, oldKey } = open.rotation;
  const { items, unreadable } = await open.client.listApiKeys();
  const found = items.find((key) => key.name === name && key.id !== oldKey?.id);
  if (found === undefined && unreadable.length > 0) throw new Error('The list of keys cannot be read');
  if (found === undefined) return { kind: 'absent', error };
  if (found.id === open.account.keyId) return await useNewKey(open, { id: found.id, key: open.storedKey });
  return { kind: 'lost', newKey: { id: found.id, name }, error };
}

/** With the new key's value. Each step can be repeated. */
async function useNewKey(
  { accounts, account, openClient, onSecret, ...open }: OpenRotation,
  created: Pick<CreatedApiKey, 'id' | 'key'>,
  options: CallOptions = {},
): Promise<RotationOutcome> {
  const { name, oldKey } = open.rotation;
  const newKey = { id: created.id, name };
  const isStored = created.key === open.storedKey;
  let step: 'test' | 'store' | 'revoke' = isStored ? 'store' : 'test';
  onSecret(created.key);
  try {
    const client = await openClient(account, created.key);
    // Every kind of key may list projects; account routes are closed to some (public service).
    if (!isStored) await client.projectPages(open.organizationId(account), options).next();
    step = 'store';
    // From here on nothing is cancelled.
    await accounts.replaceKey(account, created);
    step = 'revoke';
    if (oldKey !== undefined) await ensureRevoked(client, oldKey.id);
    return { kind: 'rotated', newKey };
  } catch (error) {
    if (step === 'test' && (await tryRevoke(open.client, created.id))) return unchanged(step, error);
    return { kind: 'unfinished', step, error, newKey };
  }
}

const unchanged = (step: 'create' | 'test' | 'store', error: unknown) =>
  ({ kind: 'unchanged', step, error }) as const;

const mayExist = (name: string, error: unknown) =>
  ({ kind: 'unfinished', step: 'create', error, newKey: { id: undefined, name } }) as const;

/** Revokes a new key that isn't used. @returns whether it is gone */
const tryRevoke = (client: Client, id: number): Promise<boolean> =>
  ensureRevoked(client, id).then(
    () => true,
    () => false,
  );

/** @throws {ApiError} unless the key is gone, which the list shows if the answer was lost */
async function ensureRevoked(client: Client, id: number): Promise<void> {
  try {
    await client.revokeApiKey(id);
  } catch (error) {
    if (isRefused(error, 404)) return;
    const keys = await client.listApiKeys().catch(() => undefined);
    if (keys?.unreadable.length !== 0 || keys.items.some((key) => key.id === id)) throw error;
  }
}
