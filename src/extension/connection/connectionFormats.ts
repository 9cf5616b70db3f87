/** A connection as text for programs, libraries and configuration files. Each format has its own escaping rules. */
import {
  connectionString,
  definedFields,
  tlsKeywords,
  requiredSslMode,
  type ConnectionStringParts,
} from './connectionStrings.ts';
import { isLocalCompute } from '../../api/addresses/host.ts';
import { percentEncode } from '../../api/addresses/databaseUrl.ts';
import { splitHost } from '../../api/addresses/host.ts';
import { changeOfVariable } from '../envFile/dotEnv.ts';

/** `host` is the direct or the pooled host, as the user chose. */
export interface FormatParts extends ConnectionStringParts {
  /** The hosts for the format that contains both. `pooled` is undefined without a pooler. */
  readonly hosts: { readonly direct: string; readonly pooled: string | undefined };
}

const FORMATS = {
  url: connectionString,
  psql: (parts: FormatParts) => `psql "${connectionString(parts)}"`,
  libpq: libpqKeywords,
  jdbc: jdbcUrl,
  dotnet: dotnetString,
  // Many versions of pgx don't know channel_binding.
  go: (parts: FormatParts) =>
    `sql.Open("pgx", ${JSON.stringify(connectionString({ ...parts, channelBinding: false }))})`,
  python: pythonCall,
  serverless: serverlessCall,
  env: envLines,
  docker: dockerOptions,
};
export type ConnectionFormat = keyof typeof FORMATS;

export const CONNECTION_FORMATS = Object.keys(FORMATS).filter(
  (format): format is ConnectionFormat => format in FORMATS,
);

/** Returns the connection in a format. It is a secret if `parts` has a password. */
export const formatConnection = (format: ConnectionFormat, parts: FormatParts): string =>
  FORMATS[format](parts);

/** Returns the keywords of libpq with their values, unescaped. */
export function libpqFields(parts: ConnectionStringParts): readonly (readonly [string, string])[] {
  const { name: host, port } = splitHost(parts.host);
  const { role: user, database: dbname, password } = parts;
  return [...definedFields({ host, port: String(port), dbname, user, password }), ...tlsKeywords(parts)];
}

function libpqKeywords(parts: ConnectionStringParts): string {
  return libpqFields(parts)
    .map(([name, value]) => `${name}=${libpqValue(value)}`)
    .join(' ');
}

const libpqValue = (value: string): string =>
  /^[\w.:-]+$/.test(value) ? value : `'${value.replace(/[\\']/g, '\\$&')}'`;

function jdbcUrl(parts: ConnectionStringParts): string {
  const fields = definedFields({
    user: parts.role.toWellFormed(),
    password: parts.password?.toWellFormed(),
    sslmode: requiredSslMode(parts),
    channelBinding: parts.channelBinding === true ? 'require' : undefined,
  });
  return `jdbc:postgresql://${parts.host}/${percentEncode(parts.database)}?${new URLSearchParams(fields).toString()}`;
}

const DOTNET_SSL_MODES = { require: 'Require', 'verify-ca': 'VerifyCA', 'verify-full': 'VerifyFull' };

function dotnetString(parts: ConnectionStringParts): string {
  const { name, port } = splitHost(parts.host);
  const sslMode = requiredSslMode(parts);
  return definedFields({
    Host: name,
    Port: String(port),
    Database: parts.database,
    Username: parts.role,
    Password: parts.password,
    'SSL Mode': sslMode && DOTNET_SSL_MODES[sslMode],
    'Channel Binding': parts.channelBinding === true ? 'Require' : undefined,
  })
    .map(([field, value]) => `${field}=${dotnetValue(value)}`)
    .join(';');
}

const dotnetValue = (value: string): string =>
  /^[^"'=;\s]+$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`;

/** Returns a call that passes the parts separately, because SQLAlchemy doesn't decode the database in a URL. */
function pythonCall(parts: ConnectionStringParts): string {
  const { name, port } = splitHost(parts.host);
  const quotedText = (value: string) => JSON.stringify(value.toWellFormed());
  const query = tlsKeywords(parts).map(([key, value]) => `${quotedText(key)}: ${quotedText(value)}`);
  const values = [
    '"postgresql+psycopg"',
    `username=${quotedText(parts.role)}`,
    ...(parts.password === undefined ? [] : [`password=${quotedText(parts.password)}`]),
    `host=${quotedText(name)}`,
    `port=${port}`,
    `database=${quotedText(parts.database)}`,
    ...(query.length === 0 ? [] : [`query={${query.join(', ')}}`]),
  ];
  return `create_engine(URL.create(${values.join(', ')}))`;
}

/**
 * Returns code that leads the serverless driver to the local service. Without these lines, the driver connects to addresses of the
 * public service. With `poolQueryViaFetch`, the driver forgets the port. `media/snippets.json` has the lines, too.
 */
const localServerlessConfig = (port: number): string =>
  `neonConfig.fetchEndpoint = (host, port) => \`http://\${host}:\${port || ${port}}/sql\`;
neonConfig.wsProxy = (host, port) => \`\${host}:\${port}/v2\`;
neonConfig.useSecureWebSocket = false;
`;

function serverlessCall(parts: ConnectionStringParts): string {
  const lines = isLocalCompute(parts) ? localServerlessConfig(splitHost(parts.host).port) : '';
  return `${lines}neon(${JSON.stringify(connectionString(parts))})`;
}

/** Returns lines for an env file, with the names that Prisma, Drizzle and the service's command line use. */
function envLines({ hosts: { direct, pooled }, ...parts }: FormatParts): string {
  const line = (name: string, host: string) =>
    changeOfVariable('', name, connectionString({ ...parts, host })).text;
  if (pooled === undefined) return line('DATABASE_URL', direct);
  return line('DATABASE_URL', pooled) + line('DATABASE_URL_UNPOOLED', direct);
}

/**
 * Returns the options with which `docker run` reaches the database. Inside a container, a loopback address means the container
 * itself.
 */
function dockerOptions(parts: ConnectionStringParts): string {
  if (!isLocalCompute(parts)) return `-e DATABASE_URL="${connectionString(parts)}"`;
  if (process.platform === 'linux') return `--network host -e DATABASE_URL="${connectionString(parts)}"`;
  // Docker Desktop runs containers in a virtual machine. `--network host` would be the network of that machine.
  const host = `host.docker.internal:${splitHost(parts.host).port}`;
  return `-e DATABASE_URL="${connectionString({ ...parts, host })}"`;
}
