/**
 * The parameters for TLS of a URL, such as `sslrootcert=system`, belong to the service that it points to: no certificate of the local
 * service passes them. Each service gets back the ones that URLs had there.
 */
import {
  parseDatabaseUrl,
  tlsParameters,
  withTlsParameters,
  type DatabaseUrl,
} from '../../api/addresses/databaseUrl.ts';
import { isLocalHost } from '../../api/addresses/host.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Memory } from '../window/memory.ts';

const ENTRY = 'hostedPostgres.formerTls';
/** The most URLs whose parameters are remembered. The oldest are dropped. */
const MAX_URLS = 100;
/** A password is a secret, which isn't stored. */
const SECRET = /^sslpassword=/i;
/** Matches variables whose URL has no parameters for TLS, because the program that reads it sets that up itself. */
const WITHOUT_TLS = /_NO_SSL$/i;

/** A variable whose URL is to be replaced. */
export interface ReplacedVariable {
  readonly name: string;
  /** A secret. */
  readonly value: string;
}

interface FormerVariable extends ReplacedVariable {
  /** The account of the branch behind the host, if that is known. */
  readonly account: string | undefined;
}

/**
 * Remembers the parameters of a URL that is to be replaced.
 * @param url what the service of the account requires
 * @returns the URL with the parameters that are to be used: those of the replaced URL if it points to the same service, or else the
 *   former ones there, or else those of `url`, unless the variable's name says that it has none
 */
export async function withFormerTls(
  memory: Memory,
  before: FormerVariable,
  url: string,
  account: string,
): Promise<string> {
  const [old, target] = [parseDatabaseUrl(before.value), parseDatabaseUrl(url)];
  const required = WITHOUT_TLS.test(before.name) ? withTlsParameters(url, []) : url;
  if (old === undefined || target === undefined) return required;
  const used = tlsParameters(before.value);
  const isSameService = before.account === account && isLocalHost(old.host) === isLocalHost(target.host);
  if (isSameService) return withTlsParameters(url, used);
  // Other variables may have other parameters for the same service, or none.
  const keyOf = (service: string, { host }: DatabaseUrl) =>
    JSON.stringify([service, isLocalHost(host), before.name, target.role, target.database]);
  const key = before.account === undefined ? undefined : keyOf(before.account, old);
  const stored = Object.entries(fieldsOf(memory.get(ENTRY)));
  if (key !== undefined) {
    const kept = used.filter((each) => !SECRET.test(each));
    const others = stored.filter(([name]) => name !== key);
    const entries = kept.length === 0 ? others : [...others, [key, kept.join('&')] as const];
    await memory.update(ENTRY, Object.fromEntries(entries.slice(-MAX_URLS)));
  }
  const former = stored.find(([name]) => name === keyOf(account, target))?.[1];
  if (typeof former === 'string') return withTlsParameters(url, former.split('&'));
  return required;
}
