/**
 * Lets a branch's owner create the extensions that the public service lets its owners create, although Postgres reserves them
 * for superusers. Postgres 18 reads control files from further folders: ours declare the extensions as trusted, so that
 * Postgres runs their scripts as superuser. The scripts must be next to them. Some are changed or get
 * more statements, because they would allow too much.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makePrivateFolder, removeFileOrFolder } from '../storage/privateFiles.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { rewriteIfOnlyDefinitions } from './definitionsOnly.ts';
import { foreignServerSql, restrictDblink } from './foreignServers.ts';
import { hasLibrary, ownLibraryFolder } from '../server/changeableSettings.ts';
import type { PostgresBinaries } from '../server/programs.ts';
import type { PostgresSettings } from '../server/settings.ts';
import { findChangeablePart, realPathIfExists } from '../server/trustedPath.ts';

/** The first version that reads control files from other folders. */
export const FIRST_WITH_CONTROL_PATH = 18;

interface OwnerExtension {
  /** SQL that is added to the extension's script. `@extowner@` is the role that creates the extension, `@extschema@` its schema. */
  readonly afterwards?: string;
  /** Returns the changed script; undefined if it isn't the known one, so that only superusers can create the extension. */
  readonly change?: (script: string) => string | undefined;
}

/**
 * The extensions by name. Extensions that read raw pages or files or change other sessions are left out, and so are
 * languages that aren't trusted. SECURITY has the reason for each.
 */
export const PACKAGED_OWNER_EXTENSIONS: Readonly<Record<string, OwnerExtension>> = {
  autoinc: {},
  bloom: {},
  dblink: { change: restrictDblink, afterwards: foreignServerSql('dblink_fdw', 'dblink_fdw_validator') },
  earthdistance: {},
  insert_username: {},
  intagg: {},
  moddatetime: {},
  pg_buffercache: {},
  // The worker that these functions start would continue without a session, and write a file.
  pg_prewarm: {
    afterwards: 'REVOKE ALL ON FUNCTION autoprewarm_start_worker(), autoprewarm_dump_now() FROM PUBLIC;',
  },
  pg_stat_statements: {
    afterwards:
      'GRANT EXECUTE ON FUNCTION pg_stat_statements_reset(oid, oid, bigint, boolean) TO @extowner@ WITH GRANT OPTION;',
  },
  pgrowlocks: {},
  pgstattuple: {},
  postgres_fdw: { afterwards: foreignServerSql('postgres_fdw', 'postgres_fdw_validator') },
  refint: {},
  // The libxslt of the packaged Postgres no longer gets fixes.
  xml2: {
    afterwards:
      'REVOKE ALL ON FUNCTION xslt_process(text, text), xslt_process(text, text, text) FROM PUBLIC;',
  },
};

/**
 * Extensions that the packaged Postgres lacks. If the user has a folder with them, owners may create them, because they only define types,
 * functions and operators without access to the machine. PostGIS and ip4r are not among them: their scripts run functions, which hostile
 * ones could replace.
 */
export const MORE_OWNER_EXTENSIONS = [
  'h3',
  'hll',
  'hypopg',
  'pg_uuidv7',
  'prefix',
  'roaringbitmap',
  'semver',
  'vector',
];

/**
 * Matches extensions that owners can't create even if the user trusts them: they read or change what isn't the owner's, or are
 * languages that aren't trusted. The package has most of them.
 */
const ONLY_FOR_SUPERUSERS =
  /^(?:adminpack|amcheck|dict_xsyn|file_fdw|pageinspect|pg_(?:freespacemap|logicalinspect|surgery|visibility|walinspect)|sslinfo|pl\w+u)$/;

/** Whether owners may create the extension if the user says so. @param name the name of an extension that the package lacks */
export const canUserTrustExtension = (name: string): boolean => !ONLY_FOR_SUPERUSERS.test(name);

/** The version of the rules above. Increase it with each change, so that a folder that was made by older rules isn't used. */
const RULES = 2;

/**
 * Returns the folder for `extension_control_path`, with copies of the extensions' files that declare them as trusted. It is made
 * again, in place of the last one, when Postgres, the rules or the further extensions have changed. It is in the engine's private
 * folder, so only the service's account can write there.
 * @param more further folders, already checked, each with a subfolder `extension`
 * @param trusted names of extensions in these folders that owners create as they are
 * @returns undefined for an older Postgres, or if its own extensions aren't found
 */
function ownerExtensionsFolder(
  { folder, postgres, major }: PostgresBinaries,
  root: string,
  more: readonly string[] = [],
  trusted: readonly string[] = [],
): string | undefined {
  const source = major >= FIRST_WITH_CONTROL_PATH ? packagedExtensionsFolder(folder, major) : undefined;
  if (source === undefined) return undefined;
  const { size, mtimeMs } = statSync(postgres);
  const furtherFiles = more.flatMap((share) =>
    furtherExtensionFiles(path.join(share, 'extension'), source, trusted),
  );
  const key = createHash('sha256')
    .update([RULES, source, size, mtimeMs, ...furtherFiles.flat()].join('\n'))
    .digest('hex')
    .slice(0, 10);
  const parent = path.join(root, 'extensions');
  const made = path.join(parent, key);
  if (existsSync(made)) return made;
  removeFileOrFolder(parent);
  const unfinished = `${made}.new`;
  makePrivateFolder(path.join(unfinished, 'extension'));
  for (const [name, rules] of Object.entries(PACKAGED_OWNER_EXTENSIONS))
    for (const [file, text] of trustedFiles(source, name, rules))
      writeFileSync(path.join(unfinished, 'extension', file), text, { mode: 0o600 });
  // The first folder wins, as it does for Postgres.
  for (const [file, text] of furtherFiles.toReversed())
    writeFileSync(path.join(unfinished, 'extension', file), text, { mode: 0o600 });
  renameOverSync(unfinished, made);
  return made;
}

/**
 * Returns the files of the extensions in a folder that owners create, declared as trusted, unless the package has the extension.
 */
function furtherExtensionFiles(
  source: string,
  packaged: string,
  trusted: readonly string[],
): [string, string][] {
  return [...new Set([...MORE_OWNER_EXTENSIONS, ...trusted])]
    .filter((name) => !existsSync(path.join(packaged, `${name}.control`)))
    .flatMap((name) =>
      trusted.includes(name) ? trustedFiles(source, name, {}) : filesThatOnlyDefine(source, name),
    );
}

function filesThatOnlyDefine(source: string, name: string): [string, string][] {
  const control = readControl(source, name);
  if (control === undefined) return [];
  const scripts = readScripts(source, name).flatMap(([file, text]): [string, string][] => {
    const definitions = rewriteIfOnlyDefinitions(text);
    return definitions === undefined ? [] : [[file, definitions]];
  });
  const steps = scripts.map(([file]) => file.slice(`${name}--`.length, -'.sql'.length).split('--'));
  return isReachable(control.version, steps)
    ? [[`${name}.control`, declareTrusted(control.text)], ...scripts]
    : [];
}

/** Whether the scripts lead to the version. @param steps what they do: `[version]` of one that installs it, `[from, to]` of an update */
function isReachable(version: string | undefined, steps: readonly (readonly string[])[]): boolean {
  const reached = new Set<string | undefined>();
  for (let before = -1; before < reached.size;) {
    before = reached.size;
    for (const [first, second] of steps)
      if (second === undefined || reached.has(first)) reached.add(second ?? first);
  }
  return reached.has(version);
}

/** Returns the settings of all servers by which Postgres finds the folder, and counts statements for `pg_stat_statements`. */
export function extensionSettings(
  ...[binaries, ...places]: Parameters<typeof ownerExtensionsFolder>
): PostgresSettings {
  const folder = ownerExtensionsFolder(binaries, ...places);
  if (folder === undefined) return {};
  const libraries = ownLibraryFolder(binaries);
  return {
    extension_control_path: [folder, '$system'].join(path.delimiter),
    ...(libraries !== undefined &&
      hasLibrary(libraries, 'pg_stat_statements') && { shared_preload_libraries: 'pg_stat_statements' }),
  };
}

/**
 * Returns the folder of Postgres's own extensions, which npm, Windows, Debian and Homebrew have in different places.
 * @returns undefined if there is none, or if another user could change it
 */
export function packagedExtensionsFolder(folder: string, major: number): string | undefined {
  const above = path.dirname(folder);
  const shares = [
    path.join(above, 'share', 'postgresql'),
    path.join(above, 'share'),
    path.join(above, 'share', `postgresql@${major}`),
    `/usr/share/postgresql/${major}`,
  ];
  const control = shares
    .map((share) => realPathIfExists(path.join(share, 'extension', 'plpgsql.control')))
    .find((file) => file !== undefined);
  return control === undefined || findChangeablePart(control) !== undefined
    ? undefined
    : path.dirname(control);
}

/** Returns names of extensions. @throws the system's error if the folder can't be read */
export const listExtensionNames = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.control'))
    .map((file) => path.basename(file, '.control'));

interface Control {
  readonly text: string;
  readonly version: string | undefined;
}

function readControl(source: string, name: string): Control | undefined {
  const file = path.join(source, `${name}.control`);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return { text, version: /^default_version *= *'([^']+)'/m.exec(text)?.[1] };
}

const declareTrusted = (control: string): string => `${control}\ntrusted = true\n`;

const readScripts = (source: string, name: string): [string, string][] =>
  readdirSync(source)
    .filter((file) => file.startsWith(`${name}--`) && file.endsWith('.sql'))
    .map((file) => [file, readFileSync(path.join(source, file), 'utf8')]);

function trustedFiles(
  source: string,
  name: string,
  { afterwards = '', change }: OwnerExtension,
): [string, string][] {
  const control = readControl(source, name);
  if (control === undefined) return [];
  const installing = `${name}--${control.version}.sql`;
  const scripts: [string, string][] = [];
  for (const [file, original] of readScripts(source, name)) {
    // A changed script is the only one, so that no other version can be installed.
    if (change !== undefined && file !== installing) continue;
    const text = change === undefined ? original : change(original);
    if (text === undefined) return [];
    scripts.push([file, file.endsWith(`--${control.version}.sql`) ? `${text}\n${afterwards}\n` : text]);
  }
  if (change !== undefined && scripts.length === 0) return [];
  // `@extschema@` is known only if the extension can't be moved to another schema.
  const fixed = afterwards.includes('@extschema@') ? 'relocatable = false\n' : '';
  return [[`${name}.control`, declareTrusted(control.text) + fixed], ...scripts];
}
