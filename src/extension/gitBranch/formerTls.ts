/**
 * The parameters for TLS of URLs at a hosted service, such as `sslrootcert=system`, while the URLs point to this machine. They
 * can't stay in the URLs, because no certificate for this machine passes them, and must be there again afterwards.
 */
import {
  isPrivateHost,
  parseDatabaseUrl,
  tlsParameters,
  withTlsParameters,
} from '../../api/addresses/databaseUrl.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Memory } from '../window/memory.ts';

const ENTRY = 'hostedPostgres.formerTls';
/** The most URLs whose parameters are remembered. The oldest are dropped. */
const MAX_URLS = 100;
/** A password is a secret, which isn't stored. */
const SECRET = /^sslpassword=/i;

/**
 * Remembers the parameters that a change removes.
 * @returns the new URL, with the former ones if it points away from this machine
 */
export async function withFormerTls(memory: Memory, before: string, after: string): Promise<string> {
  const [old, url] = [parseDatabaseUrl(before), parseDatabaseUrl(after)];
  if (old === undefined || url === undefined || isPrivateHost(old.host) === isPrivateHost(url.host))
    return after;
  const stored = Object.entries(fieldsOf(memory.get(ENTRY)));
  const key = `${url.role}/${url.database}`;
  const former = stored.find(([name]) => name === key)?.[1];
  if (!isPrivateHost(url.host))
    return typeof former === 'string' ? withTlsParameters(after, former.split('&')) : after;
  const removed = tlsParameters(before).filter((each) => !SECRET.test(each));
  const others = stored.filter(([name]) => name !== key);
  const entries = removed.length === 0 ? others : [...others, [key, removed.join('&')] as const];
  await memory.update(ENTRY, Object.fromEntries(entries.slice(-MAX_URLS)));
  return after;
}
