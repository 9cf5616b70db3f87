// What ships may weigh, in bytes; `npm run package` fails beyond it. budget.json holds the limits: `activation` for what
// activation loads, `extension` for all bundles but the local service's, `package` for the .vsix.
//   node test/bench/budget.ts [DIST]     checks what lies there
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

export interface Sizes {
  readonly activation: number;
  readonly extension: number;
  /** Undefined while nothing is packaged. */
  readonly package: number | undefined;
}

export type Budget = Required<{ readonly [part in keyof Sizes]: number }>;

/** esbuild's description of what it wrote, as far as it is read here. */
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

/** @returns a line for every part that weighs more than it may */
export function overweight(sizes: Sizes, budget: Budget): string[] {
  return (['activation', 'extension', 'package'] as const).flatMap((part) => {
    const size = sizes[part];
    return size === undefined || size <= budget[part]
      ? []
      : [`${part}: ${size} bytes, of which the budget allows ${budget[part]}`];
  });
}

/** The extension's own bundle and every one that it or one of them loads later. */
async function extensionBundles(dist: string): Promise<string[]> {
  const { outputs }: Meta = JSON.parse(await readFile(path.join(dist, 'meta.json'), 'utf8'));
  const found = new Set(['extension.js']);
  for (const name of found) {
    for (const { path: imported } of outputs[`dist/${name}`]?.imports ?? []) {
      if (imported.startsWith('./')) found.add(path.basename(imported));
    }
  }
  if (found.size === 1) throw new Error('No bundle is known that is loaded later');
  return [...found];
}

const sizeOf = async (file: string): Promise<number | undefined> =>
  (await stat(file).catch(() => undefined))?.size;

if (import.meta.main) {
  const problems = overweight(await measureSizes(process.argv[2] ?? 'dist'), await readBudget());
  for (const problem of problems) console.error(`Too large, ${problem} (test/bench/budget.json)`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
