/**
 * Writes a package (.vsix) of the built project: the universal one, or the one of a platform, which contains Postgres. The same
 * commit always gives the same bytes: vsce gets copies with fixed modes, and a fixed time, time zone and language.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { chmod, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PACKED_CLUSTER_IN_CLONE } from '../../src/service/postgres/server/programs.ts';
import { projectRoot } from '../../test/workbench/folders.ts';
import { readBinary } from './binary/binary.ts';
import { problemsOf } from './checkPackage.ts';
import { fetchPostgres } from './fetchPostgres.ts';
import { PG_DUMP, pgDumpNotice } from './pgDump.ts';
import { postgresFiles } from './postgresFiles.ts';
import { postgresNotices } from './postgresLicenses.ts';
import { packageName, targets, type Target } from './targets.ts';
import { NOTICES } from './thirdPartyNotices.ts';

interface PackageOptions {
  /** The folder with package.json and a production build in dist/. By default, the project. */
  readonly root?: string;
  /** Undefined for the universal package. */
  readonly target: Target | undefined;
  /** The file to write. */
  readonly out: string;
}

/** 1980-01-01, the first date that a zip archive can state. */
const FIXED_TIME = '315532800';

/**
 * vsce looks for secrets in each file, which takes 10 s for those of Postgres. Our files are the same in every package, so
 * it looks in the universal one only.
 */
const UNSCANNED = ['--allow-package-all-secrets', '--allow-package-env-file'];

/** @throws {Error} if something in the package is not as it must be */
export async function createPackage({ root = projectRoot, target, out }: PackageOptions): Promise<void> {
  const staging = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-package-'));
  try {
    for (const name of await shippedFiles(root))
      await write(path.join(staging, name), await readFile(path.join(root, name)));
    const readme = await withPictures(await readFile(path.join(root, 'README.md'), 'utf8'), root);
    await write(path.join(staging, 'README.md'), Buffer.from(readme));
    if (target !== undefined) await addPostgres(staging, target);
    await runVsce(staging, target, out);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  const problems = await problemsOf(out, target);
  if (problems.length > 0) throw new Error(`${out}:\n${problems.join('\n')}`);
}

/**
 * Puts the pictures of a README into its text, because VS Code's page of an extension shows no files of the package. A release
 * names them by their addresses instead: see `withAbsoluteLinks`.
 */
export async function withPictures(markdown: string, root: string): Promise<string> {
  let text = markdown;
  for (const [image, alt, file = ''] of markdown.matchAll(/!\[([^\]]*)\]\((?![a-z]+:)([^)]+\.png)\)/g)) {
    const data = (await readFile(path.join(root, file))).toString('base64');
    text = text.replace(image, `![${alt}](data:image/png;base64,${data})`);
  }
  return text;
}

const built = new Map<Target | undefined, Promise<string>>();

/** Packages the last production build once for all suites of a process. @returns the package's file */
export function builtPackage(target: Target | undefined): Promise<string> {
  const known = built.get(target);
  if (known !== undefined) return known;
  if (!existsSync(path.join(projectRoot, NOTICES)))
    throw new Error('Run "node esbuild.mjs --tests --production" first');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-built-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const out = path.join(folder, packageName(target));
  const building = createPackage({ target, out }).then(() => out);
  built.set(target, building);
  return building;
}

/** Only what .vscodeignore includes. vsce would first list all files of the project, which takes 8 s with a VS Code in it. */
async function shippedFiles(root: string): Promise<string[]> {
  const rules = await readFile(path.join(root, '.vscodeignore'), 'utf8');
  const included = rules.split('\n').flatMap((rule) => (rule.startsWith('!') ? rule.slice(1) : []));
  const files: string[] = ['.vscodeignore'];
  for await (const entry of glob(included, { cwd: root, withFileTypes: true }))
    if (entry.isFile()) files.push(path.relative(root, path.join(entry.parentPath, entry.name)));
  return files;
}

async function addPostgres(staging: string, target: Target): Promise<void> {
  const platform = targets[target];
  const files = postgresFiles(await fetchPostgres(platform), platform);
  for (const file of files)
    await write(path.join(staging, 'postgres', file.path), file.bytes, file.isProgram ? 0o755 : 0o644);
  const binaries = files.filter(({ bytes }) => readBinary(bytes) !== undefined).map((file) => file.path);
  for (const [name, file] of PG_DUMP)
    await write(path.join(staging, 'postgres/pg_dump', name), await readFile(file));
  const cluster = path.join(projectRoot, PACKED_CLUSTER_IN_CLONE);
  await write(path.join(staging, 'postgres', path.basename(cluster)), await readFile(cluster));
  const notices = path.join(staging, NOTICES);
  const sections = [await readFile(notices, 'utf8'), await postgresNotices(binaries), await pgDumpNotice()];
  await write(notices, Buffer.from(sections.join('\n')));
}

async function write(file: string, bytes: Buffer, mode = 0o644): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, bytes);
  await chmod(file, mode);
}

async function runVsce(folder: string, target: Target | undefined, out: string): Promise<void> {
  const vsce = path.join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const flags = ['--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'];
  const platform = target === undefined ? [] : ['--target', target, ...UNSCANNED];
  await promisify(execFile)(
    process.execPath,
    [vsce, 'package', ...flags, ...platform, '--out', path.resolve(out)],
    {
      cwd: folder,
      env: { ...process.env, SOURCE_DATE_EPOCH: FIXED_TIME, TZ: 'UTC', LC_ALL: 'C' },
    },
  );
}
