import { libpqFields } from './connectionFormats.ts';
import { type ConnectionStringParts } from './connectionStrings.ts';
import { isLocalCompute } from '../../api/addresses/host.ts';

/**
 * The environment variables that decide where libpq connects, as whom and how. Variables for preferences aren't among them:
 * PGAPPNAME, PGCLIENTENCODING, PGCONNECT_TIMEOUT, PGDATESTYLE, PGGEQO and PGTZ.
 */
export const LIBPQ_VARIABLES = [
  'PGHOST',
  'PGHOSTADDR',
  'PGPORT',
  'PGDATABASE',
  'PGUSER',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICE',
  'PGSERVICEFILE',
  'PGSYSCONFDIR',
  'PGOPTIONS',
  'PGTARGETSESSIONATTRS',
  'PGLOADBALANCEHOSTS',
  'PGCHANNELBINDING',
  'PGREQUIREAUTH',
  'PGREQUIREPEER',
  'PGREQUIRESSL',
  'PGSSLMODE',
  'PGSSLNEGOTIATION',
  'PGSSLCOMPRESSION',
  'PGSSLCERT',
  'PGSSLCERTMODE',
  'PGSSLKEY',
  'PGSSLROOTCERT',
  'PGSSLCRL',
  'PGSSLCRLDIR',
  'PGSSLSNI',
  'PGSSLMINPROTOCOLVERSION',
  'PGSSLMAXPROTOCOLVERSION',
  'PGMINPROTOCOLVERSION',
  'PGMAXPROTOCOLVERSION',
  'PGGSSENCMODE',
  'PGGSSDELEGATION',
  'PGGSSLIB',
  'PGKRBSRVNAME',
] as const;

/**
 * The variables by which libpq demands TLS of the local service. While the service isn't running, another program may listen at
 * its address, and must not get the password.
 */
export const LOCAL_TLS_VARIABLES = { PGSSLMODE: 'require', PGCHANNELBINDING: 'require' };

/** Returns the environment of a program that connects to a database and nowhere else. The password is in the file `passFile`. */
export function libpqEnvironment(
  parts: Omit<ConnectionStringParts, 'password'>,
  passFile: string,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !REMOVED.has(name.toUpperCase()));
  const fields = libpqFields({ ...parts, password: undefined });
  return {
    ...Object.fromEntries(others),
    ...Object.fromEntries(fields.map(([name, value]) => [VARIABLES[name], value])),
    ...(isLocalCompute(parts) && LOCAL_TLS_VARIABLES),
    PGPASSFILE: passFile,
  };
}

const REMOVED: ReadonlySet<string> = new Set(LIBPQ_VARIABLES);

/** The variable for each keyword of libpq. */
const VARIABLES: Readonly<Record<string, (typeof LIBPQ_VARIABLES)[number]>> = {
  host: 'PGHOST',
  port: 'PGPORT',
  dbname: 'PGDATABASE',
  user: 'PGUSER',
  sslmode: 'PGSSLMODE',
  channel_binding: 'PGCHANNELBINDING',
};
