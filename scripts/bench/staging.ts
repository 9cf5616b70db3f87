/** Builds the project for production in a separate folder, so that dist/ does not change. */
import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createPackage } from '../package/createPackage.ts';
import { packageName } from '../package/targets.ts';
import { projectRoot } from '../../test/workbench/folders.ts';

interface Staged {
  /** Contains dist/ and, if packaged, dist/hosted-postgres.vsix. */
  readonly folder: string;
  remove(): Promise<void>;
}

const COPIED = [
  'package.json',
  'tsconfig.json',
  'package.nls.json',
  'package.nls.de.json',
  '.vscodeignore',
  '.github',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'media',
  'l10n',
  'docs',
];
const LINKED = ['src', 'test', 'scripts', 'node_modules'];

export async function stage(options: { readonly package: boolean }): Promise<Staged> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-staged-'));
  await chmod(folder, 0o755);
  const inProject = (name: string) => path.join(projectRoot, name);
  for (const name of LINKED) await symlink(inProject(name), path.join(folder, name));
  for (const name of COPIED) await cp(inProject(name), path.join(folder, name), { recursive: true });
  await promisify(execFile)(process.execPath, [inProject('esbuild.mjs'), '--production'], { cwd: folder });
  if (options.package) {
    const out = path.join(folder, 'dist', packageName(undefined));
    await createPackage({ root: folder, target: undefined, out });
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
