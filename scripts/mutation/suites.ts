/** Finds the unit suites that load a module, by following the imports of every suite. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectFiles, readText } from '../../test/helpers/projectFiles.ts';
import { projectRoot } from '../../test/workbench/folders.ts';

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.[^']+\.ts)'/g;

/** Maps each source file to the suites that load it. The suites of the file's own folder come first. */
export function suitesBySource(): ReadonlyMap<string, readonly string[]> {
  const suites = new Map<string, string[]>();
  for (const suite of projectFiles('test/unit', '.test.ts')) {
    for (const file of loadedBy(suite)) suites.set(file, [...(suites.get(file) ?? []), suite]);
  }
  for (const [file, all] of suites) all.sort((a, b) => distance(file, a) - distance(file, b));
  return suites;
}

function loadedBy(suite: string): ReadonlySet<string> {
  const loaded = new Set([suite]);
  for (const file of loaded) {
    const text = readText(file).replaceAll(/\bimport type [^;]+;/g, '');
    for (const [, imported = ''] of text.matchAll(IMPORT)) {
      const target = path.posix.join(path.posix.dirname(file), imported);
      if (existsSync(path.join(projectRoot, target))) loaded.add(target);
    }
  }
  return loaded;
}

/** 0 for the suite named after the file, 1 for one of the same folder, 2 for all others. */
function distance(file: string, suite: string): number {
  const [own, others] = [file.replace(/^src\//, ''), suite.replace(/^test\/unit\//, '')];
  if (own.replace(/\.ts$/, '') === others.replace(/\.test\.ts$/, '')) return 0;
  return path.posix.dirname(own) === path.posix.dirname(others) ? 1 : 2;
}
