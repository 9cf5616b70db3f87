// `npm run package`: builds the extension and writes its packages to dist/.
//   npm run package                         the universal package, without Postgres
//   npm run package -- --target linux-x64   the package of a platform, with its Postgres
//   npm run package -- --all                all of them
// The npm package of `npx hosted-postgres` is written each time.
import { execFileSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../test/workbench/folders.ts';
import { createPackage } from './createPackage.ts';
import { packNpmPackage } from './npmPackage.ts';
import { isTarget, packageName, targets, type Target } from './targets.ts';

process.chdir(projectRoot);
const chosen = chosenTargets();
execFileSync(process.execPath, ['esbuild.mjs', '--production'], { stdio: 'inherit' });
for (const target of chosen) {
  const out = path.join('dist', packageName(target));
  await createPackage({ target, out });
  await report(out);
}
await report(await packNpmPackage('dist'));

async function report(out: string): Promise<void> {
  console.log(`${out.padEnd(40)}${((await stat(out)).size / 1_000_000).toFixed(1).padStart(6)} MB`);
}

function chosenTargets(): (Target | undefined)[] {
  const options = { target: { type: 'string' }, all: { type: 'boolean' } } as const;
  const { target, all } = parseArgs({ options }).values;
  if (all === true) return [undefined, ...Object.keys(targets).filter(isTarget)];
  if (target === undefined || isTarget(target)) return [target];
  throw new Error(`No package for ${target}. Known: ${Object.keys(targets).join(', ')}`);
}
