/** What must be true of a package (.vsix), as a table of checks on its contents. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { PACKED_CLUSTER_IN_CLONE } from '../../src/service/postgres/server/programs.ts';
import { readBudget } from '../bench/budget.ts';
import { readBinary, type Binary } from './binary/binary.ts';
import { isMachO, matchesSignature } from './binary/machO.ts';
import { lockedVersion } from './fetchPostgres.ts';
import { licensesOf } from './postgresLicenses.ts';
import { targets, type Platform, type Target } from './targets.ts';
import { NOTICES } from './thirdPartyNotices.ts';
import { readZip, type ZipEntry } from './zip.ts';

interface PackageContents {
  readonly size: number;
  readonly limit: number;
  readonly target: Target | undefined;
  /** Such as 18.4. */
  readonly version: string;
  readonly entries: readonly ZipEntry[];
  /** Files below postgres/, by their path in it. */
  readonly postgres: ReadonlyMap<string, ZipEntry>;
  /** The programs and libraries among them. */
  readonly binaries: ReadonlyMap<string, Binary>;
}

const POSTGRES = 'extension/postgres/';

export async function readPackage(file: string, target: Target | undefined): Promise<PackageContents> {
  const zip = await readFile(file);
  const entries = readZip(zip);
  const postgres = new Map(
    entries
      .filter(({ name }) => name.startsWith(POSTGRES))
      .map((entry) => [entry.name.slice(POSTGRES.length), entry] as const),
  );
  const binaries = [...postgres].flatMap(([name, { bytes }]) => {
    const binary = readBinary(bytes);
    return binary === undefined ? [] : [[name, binary] as const];
  });
  const budget = await readBudget();
  return {
    size: zip.length,
    limit: target === undefined ? budget.package : budget.platformPackages[target],
    target,
    version: target === undefined ? '' : await lockedVersion(targets[target]),
    entries,
    postgres,
    binaries: new Map(binaries),
  };
}

/** Each check returns what is wrong, or nothing. Those of Postgres are for the packages of a platform. */
type Check<Rest extends readonly unknown[] = []> = (
  contents: PackageContents,
  ...rest: Rest
) => readonly string[];

const everyPackage: Readonly<Record<string, Check>> = {
  'fits the size budget': ({ size, limit }) =>
    size <= limit ? [] : [`${size} bytes, the budget is ${limit}`],
  'names its platform': ({ target, entries }) => {
    const stated = /TargetPlatform="([^"]*)"/.exec(textOf(entries, 'extension.vsixmanifest'))?.[1];
    return stated === target ? [] : [`TargetPlatform is ${stated}`];
  },
  'has run bits on the programs of Postgres alone': ({ entries }) =>
    entries
      .filter(({ name, mode }) => (mode & 0o111) !== (isProgram(name) ? 0o111 : 0))
      .map(({ name, mode }) => `${name} has the mode ${(mode & 0o777).toString(8)}`),
  'has no picture in its README that VS Code would not show': ({ entries }) =>
    [...textOf(entries, 'extension/readme.md').matchAll(/!\[[^\]]*\]\((?!https:|data:)([^)]+)\)/g)].map(
      ([, file = '']) => file,
    ),
  'contains only files, each once': ({ entries }) => {
    const names = new Set<string>();
    return entries
      .filter(
        ({ name, mode }) =>
          names.size === names.add(name.toLowerCase()).size || (mode & 0o170000) !== 0o100000,
      )
      .map(({ name }) => name);
  },
};

const isProgram = (name: string): boolean => /^extension\/postgres\/bin\/(?:[^.]+|.+\.exe)$/.test(name);

const withPostgres: Readonly<Record<string, Check<[Platform]>>> = {
  'has the programs of Postgres': ({ postgres }, { programSuffix }) =>
    ['postgres', 'initdb', 'pg_ctl']
      .map((name) => `bin/${name}${programSuffix}`)
      .filter((file) => !postgres.has(file)),
  'has pg_dump as WebAssembly': ({ postgres }) =>
    ['pg_dump/pg_dump.cjs', 'pg_dump/pg_dump.wasm'].filter((file) => !postgres.has(file)),
  'has what initdb would create': ({ postgres }) =>
    postgres.has(path.basename(PACKED_CLUSTER_IN_CLONE))
      ? []
      : [`no ${path.basename(PACKED_CLUSTER_IN_CLONE)}`],
  'has the locked version of Postgres': ({ postgres, version }, { programSuffix }) => {
    const program = postgres.get(`bin/postgres${programSuffix}`)?.bytes;
    return program?.includes(`postgres (PostgreSQL) ${version}\n`) === true ? [] : [`not ${version}`];
  },
  'has every binary for its processor alone': ({ binaries }, { system, architecture }) =>
    [...binaries]
      .filter(([, each]) => each.system !== system || each.architectures.join() !== architecture)
      .map(([file, each]) => `${file} is for ${each.system} ${each.architectures.join(' and ')}`),
  'has every library that is needed': ({ postgres, binaries }, platform) =>
    [...binaries].flatMap(([file, binary]) =>
      neededBy(binary, platform)
        .filter((library) => !postgres.has(library))
        .map((library) => `${file} needs ${library}`),
    ),
  'has no library that nothing needs': ({ binaries }, platform) => {
    const needed = new Set([...binaries.values()].flatMap((binary) => neededBy(binary, platform)));
    const { libraries, modules } = platform.folders;
    return [...binaries.keys()].filter(
      (file) =>
        path.posix.dirname(file) === libraries &&
        libraries !== modules &&
        !isProgram(`${POSTGRES}${file}`) &&
        !needed.has(file),
    );
  },
  'has the modules that the service uses': ({ binaries }, { folders, moduleSuffix }) =>
    ['plpgsql', 'libpqwalreceiver', 'dict_snowball', 'pg_stat_statements']
      .map((name) => `${folders.modules}/${name}${moduleSuffix}`)
      .filter((file) => !binaries.has(file)),
  'has nothing for developers of Postgres': ({ postgres }) =>
    [...postgres.keys()].filter((file) =>
      /\.(?:a|lib|h|pc|mk|pdb)$|\/(?:pgxs|doc|locale|include)\//.test(file),
    ),
  'has binaries with an intact signature, on macOS': ({ postgres }) =>
    [...postgres].filter(([, { bytes }]) => isMachO(bytes) && !matchesSignature(bytes)).map(([file]) => file),
  'has the license of every binary': ({ entries, binaries }) => {
    const notices = textOf(entries, `extension/${NOTICES}`);
    return licensesOf([...binaries.keys()])
      .filter(({ title }) => !notices.includes(`${'-'.repeat(80)}\n${title}\n`))
      .map(({ title }) => title);
  },
};

const withoutPostgres: Readonly<Record<string, Check>> = {
  'has no Postgres': ({ postgres }) => [...postgres.keys()],
};

/** @returns the paths of libraries that must be in the package */
function neededBy({ libraries }: Binary, platform: Platform): string[] {
  return libraries
    .filter((library) => !platform.systemLibraries.test(library) && library !== 'postgres.exe')
    .map((library) => `${platform.folders.libraries}/${path.posix.basename(library)}`);
}

const textOf = (entries: readonly ZipEntry[], name: string): string =>
  entries.find((entry) => entry.name === name)?.bytes.toString('utf8') ?? '';

/** Returns what is wrong, by the title of each check. */
export function runChecks(contents: PackageContents): Map<string, readonly string[]> {
  const run = <Rest extends readonly unknown[]>(
    checks: Readonly<Record<string, Check<Rest>>>,
    ...rest: Rest
  ) => Object.entries(checks).map(([title, check]) => [title, check(contents, ...rest)] as const);
  const { target } = contents;
  const more = target === undefined ? run(withoutPostgres) : run(withPostgres, targets[target]);
  return new Map([...run(everyPackage), ...more]);
}

/** @returns a message for each problem */
export async function problemsOf(file: string, target: Target | undefined): Promise<string[]> {
  const results = runChecks(await readPackage(file, target));
  return [...results].flatMap(([title, problems]) =>
    problems.map((problem) => `Not true: ${title}: ${problem}`),
  );
}
