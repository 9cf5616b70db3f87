/** A connection as text for programs, libraries and configuration files. Each format has its own escaping rules. */
import {
  connectionString,
  encode,
  isLocalCompute,
  securityOf,
  splitHost,
  sslModeOf,
  type ConnectionStringParts,
} from './connectionStrings.ts';
import { setVariable } from './dotEnv.ts';

export const CONNECTION_FORMATS = [
  'url',
  'psql',
  'libpq',
  'jdbc',
  'dotnet',
  'go',
  'python',
  'serverless',
  'env',
  'docker',
] as const;
export type ConnectionFormat = (typeof CONNECTION_FORMATS)[number];

/** `host` is the direct or the pooled host, as the user chose. */
export interface FormatParts extends ConnectionStringParts {
  /** For the format that contains both. `pooled` is undefined without a pooler. */
  readonly hosts: { readonly direct: string; readonly pooled: string | undefined };
}

/** A secret if `parts` has a password. */
export function formatConnection(format: ConnectionFormat, parts: FormatParts): string {
  switch (format) {
    case 'url':
      return connectionString(parts);
    case 'psql':
      return `psql "${connectionString(parts)}"`;
    case 'libpq':
      return libpqKeywords(parts);
    case 'jdbc':
      return jdbcUrl(parts);
    case 'dotnet':
      return dotnetString(parts);
    case 'go':
      // Many versions of pgx don't know channel_binding.
      return `sql.Open("pgx", ${JSON.stringify(connectionString({ ...parts, channelBinding: false }))})`;
    case 'python':
      return pythonCall(parts);
    case 'serverless':
      return serverlessCall(parts);
    case 'env':
      return envLines(parts);
    case 'docker':
      return dockerOptions(parts);
    default:
      return format satisfies never;
  }
}

/** The fields of a connection under the names that a program uses, without those that have no value. */
function fieldsOf(
  parts: ConnectionStringParts,
  names: Readonly<Record<'host' | 'port' | 'database' | 'role' | 'password', string>>,
): (readonly [name: string, value: string])[] {
  const { name, port } = splitHost(parts.host);
  const fields: [string, string][] = [
    [names.host, name],
    [names.port, String(port)],
    [names.database, parts.database],
    [names.role, parts.role],
  ];
  if (parts.password !== undefined) fields.push([names.password, parts.password]);
  return fields;
}

const LIBPQ_NAMES = { host: 'host', port: 'port', database: 'dbname', role: 'user', password: 'password' };

/** The keywords of libpq with their values, unescaped. */
export const libpqFields = (parts: ConnectionStringParts): readonly (readonly [string, string])[] => [
  ...fieldsOf(parts, LIBPQ_NAMES),
  ...securityOf(parts),
];

const libpqKeywords = (parts: ConnectionStringParts): string =>
  libpqFields(parts)
    .map(([name, value]) => `${name}=${libpqValue(value)}`)
    .join(' ');

const libpqValue = (value: string): string =>
  /^[\w.:-]+$/.test(value) ? value : `'${value.replace(/[\\']/g, '\\$&')}'`;

function jdbcUrl(parts: ConnectionStringParts): string {
  const query = new URLSearchParams({ user: parts.role.toWellFormed() });
  if (parts.password !== undefined) query.set('password', parts.password.toWellFormed());
  const sslMode = sslModeOf(parts);
  if (sslMode !== undefined) query.set('sslmode', sslMode);
  if (parts.channelBinding === true) query.set('channelBinding', 'require');
  return `jdbc:postgresql://${parts.host}/${encode(parts.database)}?${query.toString()}`;
}

const DOTNET_NAMES = {
  host: 'Host',
  port: 'Port',
  database: 'Database',
  role: 'Username',
  password: 'Password',
};

const DOTNET_SSL_MODES = { require: 'Require', 'verify-ca': 'VerifyCA', 'verify-full': 'VerifyFull' };

function dotnetString(parts: ConnectionStringParts): string {
  const sslMode = sslModeOf(parts);
  return [
    ...fieldsOf(parts, DOTNET_NAMES),
    ...(sslMode === undefined ? [] : [['SSL Mode', DOTNET_SSL_MODES[sslMode]] as const]),
    ...(parts.channelBinding === true ? [['Channel Binding', 'Require'] as const] : []),
  ]
    .map(([name, value]) => `${name}=${dotnetValue(value)}`)
    .join(';');
}

const dotnetValue = (value: string): string =>
  /^[^"'=;\s]+$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`;

/** Passes the parts separately, because SQLAlchemy doesn't decode the database in a URL. */
function pythonCall(parts: ConnectionStringParts): string {
  const { name, port } = splitHost(parts.host);
  const text = (value: string) => JSON.stringify(value.toWellFormed());
  const query = securityOf(parts).map(([key, value]) => `${text(key)}: ${text(value)}`);
  const values = [
    '"postgresql+psycopg"',
    `username=${text(parts.role)}`,
    ...(parts.password === undefined ? [] : [`password=${text(parts.password)}`]),
    `host=${text(name)}`,
    `port=${port}`,
    `database=${text(parts.database)}`,
    ...(query.length === 0 ? [] : [`query={${query.join(', ')}}`]),
  ];
  return `create_engine(URL.create(${values.join(', ')}))`;
}

/** By default the driver connects to addresses of the public service. `media/snippets.json` has the same lines. */
const LOCAL_SERVERLESS = `neonConfig.fetchEndpoint = (host, port) => \`http://\${host}:\${port}/sql\`;
neonConfig.wsProxy = (host, port) => \`\${host}:\${port}/v2\`;
neonConfig.useSecureWebSocket = false;
`;

const serverlessCall = (parts: ConnectionStringParts): string =>
  `${isLocalCompute(parts) ? LOCAL_SERVERLESS : ''}neon(${JSON.stringify(connectionString(parts))})`;

/** The names that Prisma, Drizzle and the service's command line use. */
function envLines({ hosts: { direct, pooled }, ...parts }: FormatParts): string {
  const line = (name: string, host: string) =>
    setVariable('', name, connectionString({ ...parts, host })).text;
  if (pooled === undefined) return line('DATABASE_URL', direct);
  return line('DATABASE_URL', pooled) + line('DATABASE_URL_UNPOOLED', direct);
}

/** Inside a container, a loopback address means the container itself. */
export function dockerOptions(parts: ConnectionStringParts, platform = process.platform): string {
  if (!isLocalCompute(parts)) return `-e DATABASE_URL="${connectionString(parts)}"`;
  if (platform === 'linux') return `--network host -e DATABASE_URL="${connectionString(parts)}"`;
  // Docker Desktop runs containers in a virtual machine. `--network host` would be the network of that machine.
  const host = `host.docker.internal:${splitHost(parts.host).port}`;
  return `-e DATABASE_URL="${connectionString({ ...parts, host })}"`;
}
