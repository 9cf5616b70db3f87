/**
 * The calls about the account of a key. The specification doesn't promise them: they return undefined if the service
 * doesn't offer them at all or not to this key.
 */
import { parseList, parseRecord } from './records/parseResponse.ts';
import * as records from './records/records.ts';
import type { CallOptions, Http } from './transport/http.ts';

export type KeyKind = 'personal' | 'organization';

export class AccountCalls {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Also returns undefined for an unknown kind. */
  async findKeyKind(options?: CallOptions): Promise<KeyKind | undefined> {
    const reply = await this.#http.getIfOffered('/auth', {}, options);
    const method = reply && parseRecord(reply, undefined, records.Authentication).auth_method;
    if (method === 'api_key_org') return 'organization';
    return method === 'api_key_user' ? 'personal' : undefined;
  }

  /** The organizations whose projects the key may list. */
  async findOrganizations(options?: CallOptions): Promise<readonly records.Organization[] | undefined> {
    const reply = await this.#http.getIfOffered('/users/me/organizations', {}, options);
    return reply && parseList(reply, 'organizations', records.Organization).items;
  }
}
