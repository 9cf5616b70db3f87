/** Finds the unit suites that load a module, by following the imports of every suite. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.[^']+\.ts)'/g;

/** Returns the files below `folder` whose names end with `suffix`, as paths from `root`. */
export function filesBelow(root: string, folder: string, suffix: string): readonly string[] {
  const names = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(suffix)).map((name) => path.posix.join(folder, name));
}

/** Maps each source file to the suites that load it. The suites of the file's own floor come first. */
export function suitesBySource(root: string): ReadonlyMap<string, readonly string[]> {
  const suites = new Map<string, string[]>();
  for (const suite of filesBelow(root, 'test/unit', '.test.ts')) {
    for (const file of loadedBy(root, suite)) suites.set(file, [...(suites.get(file) ?? []), suite]);
  }
  for (const [file, all] of suites) all.sort((one, other) => distance(file, one) - distance(file, other));
  return suites;
}

function loadedBy(root: string, suite: string): ReadonlySet<string> {
  const loaded = new Set([suite]);
  for (const file of loaded) {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/\bimport type [^;]+;/g, '');
    for (const [, imported = ''] of text.matchAll(IMPORT)) {
      const target = path.posix.join(path.posix.dirname(file), imported);
      if (existsSync(path.join(root, target))) loaded.add(target);
    }
  }
  return loaded;
}

/** 0 for the suite named after the file, 1 for one of the same floor, 2 for all others. */
function distance(file: string, suite: string): number {
  const [own, others] = [file.replace(/^src\//, ''), suite.replace(/^test\/unit\//, '')];
  if (own.replace(/\.ts$/, '') === others.replace(/\.test\.ts$/, '')) return 0;
  return own.split('/')[0] === others.split('/')[0] ? 1 : 2;
}
