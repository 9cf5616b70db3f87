/** The variables of an env file for TLS, such as PGSSLMODE and DB_SSLROOTCERT. They follow their host, or URL, as a group. */
import { partNameAfterPrefix } from '../../api/addresses/addressVariables.ts';
import { tlsParameters } from '../../api/addresses/databaseUrl.ts';
import { getVariable, variableNames, type VariableChange } from '../envFile/dotEnv.ts';

/**
 * The parameter of libpq, and the value that has no effect, for each variable, without its prefix. An empty value has none, except
 * where libpq refuses it.
 */
const TLS_PARTS: ReadonlyMap<string, readonly [parameter: string, none: string]> = new Map([
  ['SSLMODE', ['sslmode', 'disable']],
  ['REQUIRESSL', ['requiressl', '0']],
  ['CHANNELBINDING', ['channel_binding', 'prefer']],
  ['SSLNEGOTIATION', ['sslnegotiation', 'postgres']],
  ['SSLCOMPRESSION', ['sslcompression', '0']],
  ['SSLROOTCERT', ['sslrootcert', '']],
  ['SSLCERT', ['sslcert', '']],
  ['SSLKEY', ['sslkey', '']],
  ['SSLCERTMODE', ['sslcertmode', 'allow']],
  ['SSLCRL', ['sslcrl', '']],
  ['SSLCRLDIR', ['sslcrldir', '']],
  ['SSLSNI', ['sslsni', '1']],
  ['SSLMINPROTOCOLVERSION', ['ssl_min_protocol_version', '']],
  ['SSLMAXPROTOCOLVERSION', ['ssl_max_protocol_version', '']],
]);

/** Returns the parameter and the value without effect. Others than libpq also write DB_SSL_MODE. */
const partOf = (prefix: string, name: string) =>
  TLS_PARTS.get(partNameAfterPrefix(prefix, name)?.replaceAll(/(?<!^)_/g, '') ?? '');

export const tlsVariables = (text: string, prefix: string): readonly string[] =>
  [...new Set(variableNames(text))].filter((name) => partOf(prefix, name) !== undefined);

/** Returns what the variables say, as parameters of a URL, also values without an effect, so that each comes back as it was. */
export const parametersOfVariables = (text: string, prefix: string): string[] =>
  tlsVariables(text, prefix).map(
    (name) => `${partOf(prefix, name)?.[0]}=${encodeURIComponent(getVariable(text, name) ?? '')}`,
  );

/** Returns the changes by which the variables say what the parameters of a URL do. */
export function tlsChanges(text: string, prefix: string, url: string): VariableChange[] {
  const values = new URLSearchParams(tlsParameters(url).join('&'));
  return tlsVariables(text, prefix).flatMap((name) => {
    const [parameter = '', none = ''] = partOf(prefix, name) ?? [];
    const [before, after] = [getVariable(text, name), values.get(parameter) ?? none];
    return before === undefined || before === after ? [] : [{ name, before, after }];
  });
}
