/** Packages the last production build once for all suites of a process. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';
import { createPackage } from './createPackage.ts';
import { packageName, type Target } from './targets.ts';
import { NOTICES } from './thirdPartyNotices.ts';

const built = new Map<Target | undefined, Promise<string>>();

/** Returns the package's file, which exists until the process ends. */
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
