/**
 * The account's API keys (sections 2.1–2.3, 3.3 and 5). Only hashes are stored. A key's last use is kept in memory and
 * written at intervals, and before it is shown.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKey, CreatedApiKey, RevokedApiKey } from '../../api/records/records.ts';
import { toTimestamp, type ServiceClock } from '../core/clock.ts';
import { notFound } from '../core/errors.ts';
import { LOCAL_USER, type Mutation, type StoredKey } from '../state/storedRecords.ts';
import type { Store } from '../state/store.ts';

interface Use {
  readonly at: number;
  readonly from: string;
}

const hashOfKey = (value: string): string => hash('sha256', value, 'hex');

/** Returns a new secret of 64 characters. */
export const newKeyValue = (): string => randomBytes(32).toString('hex');

export const newKey = (id: number, name: string, value: string, now: number): StoredKey => ({
  id,
  name,
  hash: hashOfKey(value),
  created_at: toTimestamp(now),
  last_used_at: null,
  last_used_from_addr: '',
});

export class ApiKeys {
  readonly #store: Store;
  readonly #clock: ServiceClock;
  readonly #idsByHash = new Map<string, number>();
  readonly #uses = new Map<number, Use>();

  constructor(store: Store, clock: ServiceClock) {
    this.#store = store;
    this.#clock = clock;
    for (const key of store.account.keys.values()) this.#idsByHash.set(key.hash, key.id);
  }

  /**
   * Whether the value is a valid key; records its use. The lookup reveals nothing useful by its duration, since an attacker
   * cannot choose a value by the beginning of its SHA-256, and the final comparison takes constant time.
   */
  isValid(value: string, from: string): boolean {
    const hash = hashOfKey(value);
    const key = this.#store.account.keys.get(this.#idsByHash.get(hash) ?? 0);
    if (key === undefined || !timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(key.hash, 'hex')))
      return false;
    this.#uses.set(key.id, { at: this.#clock.now(), from });
    return true;
  }

  isRevoked(value: string): boolean {
    const hash = hashOfKey(value);
    return !this.#idsByHash.has(hash) && this.#store.account.revokedKeys.has(hash);
  }

  /** Makes the value a valid key unless it already is one. */
  add(name: string, value: string): StoredKey {
    const existing = this.#store.account.keys.get(this.#idsByHash.get(hashOfKey(value)) ?? 0);
    if (existing !== undefined) return existing;
    const key = newKey(this.#store.account.nextKeyId(), name, value, this.#clock.now());
    this.#store.commit({ set: 'key', value: key });
    this.#idsByHash.set(key.hash, key.id);
    return key;
  }

  /** Section 2.2: no other call returns the value. */
  create(name: string): CreatedApiKey {
    const value = newKeyValue();
    const { id, created_at } = this.add(name, value);
    return { id, key: value, name, created_at, created_by: LOCAL_USER.id };
  }

  list(): ApiKey[] {
    this.writeUses();
    return [...this.#store.account.keys.values()].map(withoutHash);
  }

  /** Section 3.3: immediate and irreversible. */
  revoke(id: number): RevokedApiKey {
    this.writeUses();
    const key = this.#store.account.keys.get(id);
    if (key === undefined) throw notFound('API key with the id', String(id));
    this.#store.commit({ removed: 'key', id });
    this.#idsByHash.delete(key.hash);
    this.#uses.delete(id);
    const { hash: _, ...shown } = key;
    return { ...shown, created_by: LOCAL_USER.id, revoked: true };
  }

  /** Writes the uses that are in memory to the account. */
  writeUses(): void {
    const changes: Mutation[] = [];
    for (const [id, { at, from }] of this.#uses) {
      const key = this.#store.account.keys.get(id);
      if (key === undefined) continue;
      changes.push({
        set: 'key',
        value: { ...key, last_used_at: toTimestamp(at), last_used_from_addr: from },
      });
    }
    this.#uses.clear();
    this.#store.commit(...changes);
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
