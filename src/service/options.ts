/** The command line of the service. */
import path from 'node:path';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { isSendableKey } from '../api/records/ids.ts';
import type { Plan } from '../api/rules/sizes.ts';
import { StartError } from './core/serviceErrors.ts';

export const SERVICE_HELP = `Usage: service [options]

  --port N              HTTP port on 127.0.0.1; 0 for any free port; default 8790
  --data-dir DIR        all data; created if missing. Default: a temporary directory, which is not
                        synced to disk, and deleted at the end
  --api-key KEY         accept this API key. The environment variable HOSTED_POSTGRES_SERVICE_API_KEY does
                        the same without showing the key in the process list
  --api-key-stdin       the same, with the key in the first line of standard input
  --projects FILE       JSON with the projects, branches and computes of a new account
  --plan free|paid      plan limits; default paid
  --operation-delay MS  minimum duration of an operation; default 0
  --no-postgres         for tests of the API: computes are simulated. They change state, but nothing runs and
                        they accept no connections
  --postgres-path DIR   directory with postgres and initdb
  --extensions-dir DIR  more extensions for Postgres 18: control files and scripts in DIR/extension, libraries in
                        DIR/lib; or the folder of an installed Postgres 18. See docs/extensions.md
  --installed-extensions
                        without --extensions-dir: those of another Postgres 18 on this machine
  --trust-extension NAME
                        let owners create this one of them although its control file doesn't say so. Postgres runs
                        its script as superuser. May be repeated
  --allow-origin URL    let web pages of this origin, such as http://localhost:3000, use the serverless driver;
                        may be repeated. Without it, no page may
  --check-postgres      only print whether Postgres can be used, as JSON
  --end-with-leases MS  end when standard input has ended, and no client has held GET /lease open for this time
  --help                show this text

Computes have the self-signed certificate postgres/tls/server.crt in the data directory, or tls/server.crt in
the folder that the file postgres-folder there names (for root). To trust it: NODE_EXTRA_CA_CERTS=<file> for
Node, sslrootcert=<file> for libpq. It is valid for ten years; clients that pin it then need the new file.
`;

export type ServiceOptions = NonNullable<ReturnType<typeof readOptions>>;

/** The options that `npx hosted-postgres` has, too. */
export const SHARED_OPTIONS = {
  port: { type: 'string' },
  'data-dir': { type: 'string' },
  'api-key': { type: 'string' },
  projects: { type: 'string' },
  plan: { type: 'string' },
  'operation-delay': { type: 'string' },
  'no-postgres': { type: 'boolean' },
  'postgres-path': { type: 'string' },
  'extensions-dir': { type: 'string' },
  'trust-extension': { type: 'string', multiple: true },
  'allow-origin': { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const;

const OPTIONS = {
  ...SHARED_OPTIONS,
  'api-key-stdin': { type: 'boolean' },
  'check-postgres': { type: 'boolean' },
  'installed-extensions': { type: 'boolean' },
  'end-with-leases': { type: 'string' },
} as const;

/** Returns undefined for `--help`. @throws {StartError} `usage` */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
) {
  const { values } = parseOptions(args, OPTIONS);
  if (values.help === true) return undefined;
  for (const name of ['data-dir', 'projects', 'postgres-path', 'extensions-dir'] as const)
    // An empty value is most likely an unset variable of a script. As a path, it would mean the current directory.
    if (values[name] === '') throw usageError(`--${name} must not be empty`);
  const plan = parsePlan(values.plan ?? 'paid');
  const apiKey = values['api-key'] ?? (environment['HOSTED_POSTGRES_SERVICE_API_KEY'] || undefined);
  if (apiKey !== undefined) requireKey(apiKey);
  return {
    port: parseWholeNumber('port', values.port, 65_535) ?? 8790,
    /** The data directory; undefined for a temporary one. */
    dataDir: values['data-dir'],
    apiKey,
    apiKeyFromStdin: values['api-key-stdin'] ?? false,
    projectsFile: values.projects,
    plan,
    /** Milliseconds that operations take at least. */
    operationDelay: parseWholeNumber('operation-delay', values['operation-delay'], 3_600_000) ?? 0,
    postgres: values['no-postgres'] !== true,
    allowedOrigins: (values['allow-origin'] ?? []).map(parseOrigin),
    checkPostgres: values['check-postgres'] ?? false,
    postgresPath: absolutePath(values['postgres-path']),
    extensionsDir: absolutePath(values['extensions-dir']),
    trustedExtensions: values['trust-extension'] ?? [],
    installedExtensions: values['installed-extensions'] ?? false,
    /** Milliseconds without a lease after which the service ends. Without it, the service does not end by itself. */
    endWithLeases: parseWholeNumber('end-with-leases', values['end-with-leases'], 86_400_000),
  } as const;
}

/** Returns the absolute path of a folder, because a service that root has started changes its working directory later. */
const absolutePath = (folder: string | undefined): string | undefined => folder && path.resolve(folder);

const MAX_KEY_LENGTH = 1024;

/** @throws {StartError} `usage`; the message does not contain the key */
export function requireKey(key: string): void {
  if (!isSendableKey(key) || key.length > MAX_KEY_LENGTH) {
    throw usageError('the API key must be 1 to 1024 visible ASCII characters without spaces');
  }
}

/** @throws {StartError} `usage` for unknown options, missing values, and words that are no options unless these are allowed */
export function parseOptions<T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  { allowPositionals = false } = {},
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals, tokens: true });
  } catch (error) {
    throw usageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error));
  }
}

function parseOrigin(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : undefined;
  if (origin !== text || !/^https?:/.test(text))
    throw usageError('--allow-origin must be an origin such as http://localhost:3000');
  return origin;
}

function parsePlan(text: string): Plan {
  if (text !== 'free' && text !== 'paid') throw usageError('--plan must be free or paid');
  return text;
}

function parseWholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value > max)
    throw usageError(`--${name} must be a whole number from 0 to ${max}`);
  return value;
}

const usageError = (problem: string): StartError =>
  new StartError('usage', `${problem} (--help shows all options)`);
