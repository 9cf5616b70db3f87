/**
 * Replaces the API key of an account: creates a new key, tests it, stores it, and only then revokes the old one. Until one
 * of them is gone, a recovery record names both, so that the next window can report an interrupted rotation, or revoke the old key.
 */
import type { CallOptions, Client } from '../../../api/client.ts';
import { isOutcomeUnknown, isRejected } from '../../../api/transport/errors.ts';
import type { ApiKey, CreatedApiKey } from '../../../api/records/records.ts';
import type { Accounts } from '../../account/accounts.ts';
import type { AccountConnection, OpenClient } from '../../account/accountConnection.ts';
import type { RecoveryRecords } from '../../window/memory.ts';

/** What is stored of a rotation that has begun: names and ids, and never a key. */
export interface RotationRecord {
  readonly id: string;
  /** The id of the account, see `accountId`. Records of earlier versions have none. */
  readonly accountId?: string | undefined;
  /** The label that the user sees. */
  readonly account: string;
  readonly newName: string;
  /** Undefined if the user chose to keep all keys. */
  readonly oldName?: string | undefined;
  readonly oldId?: number | undefined;
}

/**
 * - `rotated`: the new key is stored. The old one is revoked, unless the user chose to keep it.
 * - `unchanged`: failed at `step`. The old key is still in use and the new key doesn't exist.
 * - `notRevoked`: the new key is stored, but the old one may still be valid. The record stays until the user has seen it.
 * - `unknown`: both keys may be valid. The record stays until the user has seen it.
 */
export type RotationOutcome =
  | { readonly kind: 'rotated' }
  | { readonly kind: 'unchanged'; readonly step: 'create' | 'test' | 'store'; readonly error: unknown }
  | { readonly kind: 'notRevoked'; readonly error: unknown; readonly record: RotationRecord }
  | { readonly kind: 'unknown'; readonly error: unknown; readonly record: RotationRecord };

export interface RotationDependencies {
  readonly accounts: Pick<Accounts, 'key' | 'replaceKey'>;
  readonly openClient: OpenClient;
  readonly organizationId: string | undefined;
  readonly records: RecoveryRecords<RotationRecord>;
  /** The account's label for the record. */
  readonly accountLabel: string;
  /** Called with the new key before it is used. */
  readonly onSecret: (key: string) => void;
}

/**
 * Replaces an API key by a new one, and revokes the old one. Never rejects.
 * @param connection the one whose key is replaced
 * @param oldKey undefined if no key is to be revoked
 */
export async function rotateKey(
  { accounts, openClient, organizationId, records, accountLabel, onSecret }: RotationDependencies,
  connection: AccountConnection,
  { newName, oldKey }: { readonly newName: string; readonly oldKey: Pick<ApiKey, 'id' | 'name'> | undefined },
  options: CallOptions = {},
): Promise<RotationOutcome> {
  const { account, accountId } = connection;
  const old = { oldName: oldKey?.name, oldId: oldKey?.id };
  const record = { id: crypto.randomUUID(), accountId, account: accountLabel, newName, ...old };
  try {
    await records.set(record.id, record);
  } catch (error) {
    return { kind: 'unchanged', step: 'create', error };
  }
  let step: 'create' | 'test' | 'store' | 'revoke' = 'create';
  let created: CreatedApiKey | undefined;
  try {
    const oldClient = await connection.client();
    created = await oldClient.createApiKey(newName, options);
    onSecret(created.key);
    step = 'test';
    const newClient = await openClient(account, created.key);
    // Every kind of key may list projects. Some have no access to account routes (public service).
    await newClient.projectPages(organizationId, options).next();
    step = 'store';
    // From here on, the rotation can't be canceled.
    await accounts.replaceKey(account, created);
    step = 'revoke';
    if (oldKey !== undefined) await ensureRevoked(newClient, oldKey.id);
    records.delete(record.id);
    return { kind: 'rotated' };
  } catch (error) {
    if (step === 'revoke') return { kind: 'notRevoked', error, record };
    const isUnchanged =
      created === undefined
        ? !isOutcomeUnknown(error)
        : await revokeUnlessStored(created, connection, accounts).catch(() => false);
    if (!isUnchanged) return { kind: 'unknown', error, record };
    records.delete(record.id);
    return { kind: 'unchanged', step, error };
  }
}

/** Revokes a new key after a failure. @returns false if it is in use @throws {Error} if it may still be valid */
async function revokeUnlessStored(
  { id, key }: CreatedApiKey,
  connection: AccountConnection,
  accounts: Pick<Accounts, 'key'>,
): Promise<boolean> {
  if ((await accounts.key(connection.account)) === key) return false;
  await ensureRevoked(await connection.client(), id);
  return true;
}

/** Revokes a key. If the reply is lost, looks the key up in the list. @throws {ApiError} unless the key is gone */
async function ensureRevoked(client: Client, id: number): Promise<void> {
  try {
    await client.revokeApiKey(id);
  } catch (error) {
    if (isRejected(error, 404)) return;
    const keys = await client.listApiKeys().catch(() => undefined);
    if (keys?.unreadable.length !== 0 || keys.items.some((key) => key.id === id)) throw error;
  }
}
