// Checks the size budget in budget.json, in bytes: `activation` for dist/extension.js and the chunks that it imports,
// `extension` for all that it can load, `package` for the universal .vsix, `platformPackages` for those with Postgres.
// `npm run package` fails if one is exceeded.
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

interface Budget extends Required<{ readonly [part in keyof Sizes]: number }> {
  /** For the packages with Postgres. */
  readonly platformPackages: Readonly<Record<Target, number>>;
}

/** The part of esbuild's metafile that is used here. */
interface Meta {
  readonly outputs: Readonly<Record<string, { readonly bytes: number; readonly imports: readonly Import[] }>>;
}

interface Import {
  readonly path: string;
  readonly kind: 'import-statement' | 'dynamic-import';
}

export async function readBudget(): Promise<Budget> {
  return JSON.parse(await readFile(path.join(import.meta.dirname, 'budget.json'), 'utf8'));
}

export async function measureSizes(dist: string): Promise<Sizes> {
  const { outputs }: Meta = JSON.parse(await readFile(path.join(dist, 'meta.json'), 'utf8'));
  const sizeOf = (files: readonly string[]) =>
    files.reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
  return {
    activation: sizeOf(loadedBy(outputs, ['import-statement'])),
    extension: sizeOf(loadedBy(outputs, ['import-statement', 'dynamic-import'])),
    package: (await stat(path.join(dist, 'hosted-postgres.vsix')).catch(() => undefined))?.size,
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

/** Returns dist/extension.js and what it imports in these ways, directly or indirectly. */
function loadedBy(outputs: Meta['outputs'], kinds: readonly Import['kind'][]): string[] {
  const found = new Set(['dist/extension.js']);
  for (const file of found)
    for (const { path: imported, kind } of outputs[file]?.imports ?? [])
      if (kinds.includes(kind)) found.add(imported);
  return [...found];
}
