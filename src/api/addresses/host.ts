/** Hosts of computes. A host is a name or an address (IPv6 in brackets), with a port unless that is the default one. */
import { isIPv6 } from 'node:net';

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[([0-9a-f:.]{2,45})\])(?::(\d{1,5}))?$/i;

/** Whether a host from the service can be put into users' files and terminals. */
export function isHost(value: unknown): value is string {
  const match = typeof value === 'string' ? HOST.exec(value) : null;
  if (match === null) return false;
  const [, address, port = 0] = match;
  return (address === undefined || isIPv6(address)) && Number(port) <= 65_535;
}

/** Splits a host from its port, and removes the brackets of an IPv6 address. */
export function splitHost(host: string): { readonly name: string; readonly port: number } {
  const [, address, name = host, port = '5432'] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(host) ?? [];
  return { name: address ?? name, port: Number(port) };
}

/** Returns the same text for all spellings of a host: letter case, the default port, and `localhost`. */
export const normalizeHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:5432$/, '')
    .replace(/^localhost(?=:|$)/, '127.0.0.1');

export const isSameHost = (a: string, b: string): boolean => normalizeHost(a) === normalizeHost(b);

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** @param hostname without a port; IPv6 addresses in brackets, as in a URL */
export const isLoopback = (hostname: string): boolean => LOOPBACK.has(hostname.toLowerCase());

/** Whether the host, which may have a port, is on this machine. */
export const isLocalHost = (host: string): boolean => isLoopback(host.replace(/:\d+$/, ''));

/**
 * Returns the host of the compute behind a pooled host, by the public service's naming rule. Other hosts are returned as
 * they are.
 */
export const directHost = (host: string): string => host.replace(/^([^.:]+)-pooler(?=[.:]|$)/, '$1');

/** The fields of a compute's record with its hosts. */
interface ComputeHosts {
  readonly host: string;
  readonly pooler_host?: string | null | undefined;
  readonly pooler_enabled?: boolean | null | undefined;
}

/** Whether the compute runs on this machine. Hosted ones always have a pooler, even if `pooler_enabled` is false. */
export const isLocalCompute = ({ host }: Pick<ComputeHosts, 'host'>): boolean => isLocalHost(host);

/** Returns the host for pooled connections; undefined if the compute has no pooler. */
export function pooledHost(compute: ComputeHosts): string | undefined {
  const isLocal = isLocalCompute(compute);
  if (isLocal && compute.pooler_enabled !== true) return undefined;
  if (typeof compute.pooler_host === 'string') return compute.pooler_host;
  // By the public service's rule, the pooled host has `-pooler` after its first label.
  return isLocal ? undefined : compute.host.replace(/^[^.:]+/, '$&-pooler');
}
