// Checks the size budget in budget.json, in bytes: `activation` for dist/extension.js, `extension` for all bundles except
// the local service's, `package` for the universal .vsix, `platformPackages` for those with Postgres. `npm run package` fails
// if one is exceeded.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Target } from '../package/targets.ts';

export interface Sizes {
  readonly activation: number;
  readonly extension: number;
  /** Undefined before the extension is packaged. */
  readonly package: number | undefined;
}

export interface Budget extends Required<{ readonly [part in keyof Sizes]: number }> {
  /** For the packages with Postgres. */
  readonly platformPackages: Readonly<Record<Target, number>>;
}

/** The part of esbuild's metafile that is used here. */
interface Meta {
  readonly outputs: Readonly<Record<string, { readonly imports: readonly { readonly path: string }[] }>>;
}

export async function readBudget(): Promise<Budget> {
  return JSON.parse(await readFile(path.join(import.meta.dirname, 'budget.json'), 'utf8'));
}

export async function measureSizes(dist: string): Promise<Sizes> {
  const bundles = await extensionBundles(dist);
  const sizes = await Promise.all(bundles.map((name) => sizeOf(path.join(dist, name))));
  return {
    activation: (await sizeOf(path.join(dist, 'extension.js'))) ?? 0,
    extension: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    package: await sizeOf(path.join(dist, 'hosted-postgres.vsix')),
  };
}

export async function gzipped(file: string): Promise<number> {
  return gzipSync(await readFile(file)).length;
}

/** Returns a message for each part that exceeds its budget. */
export function overweight(sizes: Sizes, budget: Budget): string[] {
  return (['activation', 'extension', 'package'] as const).flatMap((part) => {
    const size = sizes[part];
    return size === undefined || size <= budget[part]
      ? []
      : [`${part}: ${size} bytes, the budget is ${budget[part]}`];
  });
}

/** Returns dist/extension.js and every bundle that it loads, directly or indirectly. */
async function extensionBundles(dist: string): Promise<string[]> {
  const { outputs }: Meta = JSON.parse(await readFile(path.join(dist, 'meta.json'), 'utf8'));
  const found = new Set(['extension.js']);
  for (const name of found) {
    for (const { path: imported } of outputs[`dist/${name}`]?.imports ?? []) {
      if (imported.startsWith('./')) found.add(path.basename(imported));
    }
  }
  if (found.size === 1) throw new Error('dist/extension.js loads no other bundle');
  return [...found];
}

const sizeOf = async (file: string): Promise<number | undefined> =>
  (await stat(file).catch(() => undefined))?.size;
