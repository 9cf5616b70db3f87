/** Says what to do if CREATE EXTENSION fails in a local Postgres that doesn't have the extension. */
import { existsSync } from 'node:fs';
import { fieldsOf } from '../fieldsOf.ts';

interface Packages {
  /** The name after `postgresql-18-`, in PostgreSQL's own packages for Debian and Ubuntu. */
  readonly debian?: string;
  readonly homebrew?: string;
  readonly fedora?: string;
  /** The package in PostgreSQL's own repository for Red Hat. */
  readonly redhat?: string;
  readonly arch?: string;
}

/** How packages are installed. `source` says where they are if some versions of the system lack them. */
const INSTALLERS: Readonly<
  Record<string, { readonly from: keyof Packages; readonly command: string; readonly source?: string }>
> = {
  debian: {
    from: 'debian',
    command: 'apt install postgresql-18-',
    source: 'before Debian 14 and Ubuntu 26.04: from apt.postgresql.org',
  },
  darwin: { from: 'homebrew', command: 'brew install postgresql@18 ' },
  fedora: { from: 'fedora', command: 'dnf install ', source: 'since Fedora 43' },
  redhat: { from: 'redhat', command: 'dnf install ', source: 'from yum.postgresql.org' },
  arch: { from: 'arch', command: 'pacman -S ' },
};

const POSTGIS = { debian: 'postgis-3', homebrew: 'postgis' };

/** The extensions that the public service offers and our package lacks, with their packages for Postgres 18. */
export const UNPACKAGED_EXTENSIONS: Readonly<Record<string, Packages>> = {
  address_standardizer: POSTGIS,
  address_standardizer_data_us: POSTGIS,
  anon: {},
  h3: { debian: 'h3' },
  h3_postgis: { debian: 'h3' },
  hll: { debian: 'hll' },
  hypopg: { debian: 'hypopg' },
  ip4r: { debian: 'ip4r' },
  pg_graphql: {},
  pg_hashids: {},
  pg_hint_plan: { debian: 'pg-hint-plan' },
  pg_ivm: {},
  pg_jsonschema: {},
  pg_partman: { debian: 'partman', homebrew: 'pg_partman' },
  pg_repack: { debian: 'repack' },
  pg_session_jwt: {},
  pg_tiktoken: {},
  pg_uuidv7: {},
  pgjwt: {},
  pgrouting: { debian: 'pgrouting', homebrew: 'pgrouting' },
  pgtap: { debian: 'pgtap' },
  plpgsql_check: { debian: 'plpgsql-check' },
  plv8: {},
  postgis: POSTGIS,
  postgis_raster: POSTGIS,
  postgis_sfcgal: POSTGIS,
  postgis_tiger_geocoder: POSTGIS,
  postgis_topology: POSTGIS,
  prefix: { debian: 'prefix' },
  rdkit: { debian: 'rdkit' },
  roaringbitmap: { debian: 'roaringbitmap' },
  rum: { debian: 'rum' },
  semver: { debian: 'semver' },
  tdigest: { debian: 'tdigest' },
  ulid: {},
  unit: { debian: 'unit' },
  vector: {
    debian: 'pgvector',
    homebrew: 'pgvector',
    fedora: 'pgvector',
    redhat: 'pgvector_18',
    arch: 'pgvector',
  },
};

/** Extensions of the public service that work only if they are loaded when Postgres starts, which the local service doesn't do. */
export const PRELOADED_EXTENSIONS = ['pg_cron', 'pg_search', 'pgaudit', 'timescaledb'];

/** The files by which distributions and their relatives are known. Fedora also has Red Hat's, so it comes first. */
const RELEASE_FILES = [
  ['debian', '/etc/debian_version'],
  ['fedora', '/etc/fedora-release'],
  ['redhat', '/etc/redhat-release'],
  ['arch', '/etc/arch-release'],
] as const;

/** Returns the distribution, if it is known, or Node's name of the platform. */
const distributionOrPlatform = (): string =>
  (process.platform === 'linux' && RELEASE_FILES.find(([, file]) => existsSync(file))?.[0]) ||
  process.platform;

/** @param name the name of an extension that the local Postgres lacks @returns the command that installs it, if it is known */
export function installCommand(name: string, machine = distributionOrPlatform()): string | undefined {
  const packages = (Object.hasOwn(UNPACKAGED_EXTENSIONS, name) && UNPACKAGED_EXTENSIONS[name]) || {};
  const installer = INSTALLERS[machine];
  const found = installer && packages[installer.from];
  return found && installer.command + found;
}

/** @param name the name of an extension that the local Postgres lacks @returns what to do, as a sentence */
export function extensionAdvice(name: string, machine = distributionOrPlatform()): string {
  if (PRELOADED_EXTENSIONS.includes(name))
    return `The local service can't run "${name}", which must be loaded when Postgres starts. Use a branch of the public service.`;
  if (name === 'pgvector') return 'The extension of pgvector is called "vector".';
  if (!Object.hasOwn(UNPACKAGED_EXTENSIONS, name))
    return `The local Postgres doesn't have the extension "${name}", and the public service isn't known to offer it.`;
  const command = installCommand(name, machine);
  if (command === undefined)
    return `Install "${name}" for a Postgres 18 on this machine, or set hostedPostgres.localService.extensionsPath (--extensions-dir) to a folder that has it, and start the local service again.`;
  const source = INSTALLERS[machine]?.source;
  return `Install it with "${command}"${source === undefined ? '' : ` (${source})`}, and start the local service again.`;
}

/** These match errors about the library of an extension, whose name may end with a version, such as `postgis-3`. */
const NOT_LOADED = /could not load library "([^"\n]+)\.(?:so|dylib|dll)": (.*)/;
const NOT_FOUND = /could not access file "(?:\$libdir\/)?([\w-]+?)(?:-\d+)?": No such file/;
/** These match the reasons that glibc, musl and macOS give. */
const NEWER_VERSION = /version [`'](\w+_[\d.]+)' not found/;
const NEEDED_LIBRARY =
  /^(?:Error loading shared library |.*Library not loaded: )?([^\s:"]+?\.(?:so|dylib)[\d.]*)(?:$|: (?:cannot open shared object file: )?No such file)/;

function libraryAdvice(text: string, machine?: string): string | undefined {
  const [, file, reason = ''] = NOT_LOADED.exec(text) ?? [];
  const notLoaded = file?.split(/[/\\]/).at(-1)?.replace(/-\d+$/, '');
  const name = notLoaded ?? NOT_FOUND.exec(text)?.[1];
  if (name === undefined) return undefined;
  const command = installCommand(name, machine);
  const by = command === undefined ? '' : ` with "${command}"`;
  if (notLoaded === undefined)
    return `Postgres doesn't find the library of the extension. Set hostedPostgres.localService.extensionsPath (--extensions-dir) to the folder that has it, or install the extension${by}, and start the local service again.`;
  const install = `install the extension${by || " from this system's packages"}, and start the local service again.`;
  const version = NEWER_VERSION.exec(reason)?.[1];
  if (version !== undefined)
    return `The library of the extension is built for a newer system, with ${version}. To have one for this system, ${install}`;
  const needed = NEEDED_LIBRARY.exec(reason)?.[1] ?? 'something';
  return `The library of the extension needs ${needed}, which this system lacks or has in another version. Install that, or ${install}`;
}

/** These match errors of Postgres that contain the name of an extension or the path of a file. */
const NOT_AVAILABLE = /extension "([^"\n]+)" is not available/;
const NO_CONTROL_FILE = /could not open extension control file "([^"\n]+)\.control"/;
const NOT_PERMITTED = /permission denied to create extension "([^"\n]+)"/;
const NOT_OWNED = /must be owner of extension ([\w$-]+)/;

/** @param text what psql or another tool has printed @returns undefined without an error for which advice is known */
export function extensionAdviceForOutput(text: string, machine?: string): string | undefined {
  const file = NO_CONTROL_FILE.exec(text)?.[1];
  const missing = NOT_AVAILABLE.exec(text)?.[1] ?? file?.split(/[/\\]/).at(-1);
  if (missing !== undefined) return extensionAdvice(missing, machine);
  const owned = NOT_OWNED.exec(text)?.[1];
  if (owned !== undefined)
    return `A superuser owns the extension "${owned}". Remove this statement, which dumps of pg_dump 11 and newer don't have.`;
  const refused = NOT_PERMITTED.exec(text)?.[1];
  if (refused === undefined) return libraryAdvice(text, machine);
  // Extensions of the package itself are refused for a reason, so there is no advice for them.
  return Object.hasOwn(UNPACKAGED_EXTENSIONS, refused)
    ? `Postgres would run the script of "${refused}" as superuser. If only you use your databases, add the name to hostedPostgres.localService.trustedExtensions (--trust-extension), and start the local service again.`
    : undefined;
}

/**
 * Replaces Postgres's own hint, which says less.
 * @param error the error of a statement on this machine; other errors are left as they are
 */
export function addExtensionHint(error: unknown, machine?: string): void {
  const { code, message } = fieldsOf(error);
  if (!(error instanceof Error) || !['0A000', '58P01', '42501', 'XX000'].includes(String(code))) return;
  const hint = extensionAdviceForOutput(String(message), machine);
  if (hint !== undefined) Object.assign(error, { hint });
}
