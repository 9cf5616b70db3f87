/**
 * The account's API keys. Only hashes are stored. A key's last use is kept in memory and
 * written at intervals, and before it is shown.
 */
import { hash, randomBytes } from 'node:crypto';
import type { ApiKey, CreatedApiKey, RevokedApiKey } from '../../api/records/records.ts';
import type { Clock } from '../../base/clock.ts';
import { toTimestamp } from '../core/serviceClock.ts';
import { notFound } from '../core/serviceErrors.ts';
import { LOCAL_USER, type Mutation, type StoredKey } from '../state/storedRecords.ts';
import type { Store } from '../state/store.ts';

interface Use {
  readonly at: number;
  readonly from: string;
}

export const apiKeyHash = (value: string): string => hash('sha256', value, 'hex');

/** Returns a new secret of 64 characters. */
export const newKeyValue = (): string => randomBytes(32).toString('hex');

export const newStoredKey = (id: number, name: string, value: string, now: number): StoredKey => ({
  id,
  name,
  hash: apiKeyHash(value),
  created_at: toTimestamp(now),
  last_used_at: null,
  last_used_from_addr: '',
});

/** Checks, creates and revokes API keys. */
export class ApiKeys {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #uses = new Map<number, Use>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Records the use of a key. @param from the address of the client @returns whether the value is a valid key */
  recordUse(value: string, from: string): boolean {
    const key = this.#findByValue(value);
    if (key !== undefined) this.#uses.set(key.id, { at: this.#clock.now(), from });
    return key !== undefined;
  }

  /** The time that `===` takes may reveal the beginning of a hash, but this doesn't help to guess a key: a SHA-256 can't be inverted. */
  #findByValue(value: string): StoredKey | undefined {
    const hash = apiKeyHash(value);
    for (const key of this.#store.account.keys.values()) if (key.hash === hash) return key;
    return undefined;
  }

  isRevoked(value: string): boolean {
    return this.#findByValue(value) === undefined && this.#store.account.revokedKeys.has(apiKeyHash(value));
  }

  /** Makes the value a valid key unless it already is one. */
  add(name: string, value: string): StoredKey {
    const existing = this.#findByValue(value);
    if (existing !== undefined) return existing;
    const key = newStoredKey(this.#store.account.nextKeyId(), name, value, this.#clock.now());
    this.#store.commit({ set: 'key', value: key });
    return key;
  }

  /** Creates a key. No other call returns its value. */
  create(name: string): CreatedApiKey {
    const value = newKeyValue();
    const { id, created_at } = this.add(name, value);
    return { id, key: value, name, created_at, created_by: LOCAL_USER.id };
  }

  /** Returns all keys, once their last uses are written. */
  list(): ApiKey[] {
    this.writeUses();
    return [...this.#store.account.keys.values()].map(withoutHash);
  }

  /** Revokes a key at once and irreversibly. @throws {HttpError} 404 */
  revoke(id: number): RevokedApiKey {
    this.writeUses();
    const key = this.#store.account.keys.get(id);
    if (key === undefined) throw notFound('API key with the id', String(id));
    this.#store.commit({ removed: 'key', id });
    this.#uses.delete(id);
    const { hash: _, ...shown } = key;
    return { ...shown, created_by: LOCAL_USER.id, revoked: true };
  }

  /** Writes the uses that are in memory to the account. */
  writeUses(): void {
    const mutations: Mutation[] = [];
    for (const [id, { at, from }] of this.#uses) {
      const key = this.#store.account.keys.get(id);
      if (key === undefined) continue;
      const value = { ...key, last_used_at: toTimestamp(at), last_used_from_addr: from };
      mutations.push({ set: 'key', value });
    }
    this.#uses.clear();
    this.#store.commit(...mutations);
  }
}

const withoutHash = ({ id, name, created_at, last_used_at, last_used_from_addr }: StoredKey): ApiKey => ({
  id,
  name,
  created_at,
  created_by: { id: LOCAL_USER.id, name: LOCAL_USER.name, image: LOCAL_USER.image },
  last_used_at,
  last_used_from_addr,
});
