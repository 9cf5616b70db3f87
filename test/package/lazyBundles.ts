/** Builds bundles, and a separate one for each file that they import dynamically, as `import('./x.ts')`. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';

/** @param bundles name → source file. The build of a bundle adds those that it imports dynamically */
export const lazyBundles = (bundles: Map<string, string>): Plugin => ({
  name: 'lazy-bundles',
  setup(build) {
    build.onResolve({ filter: /^\..*\.ts$/ }, (args) => {
      if (args.kind !== 'dynamic-import') return undefined;
      const file = path.resolve(args.resolveDir, args.path);
      const name = path.basename(file, '.ts');
      const known = bundles.get(name);
      if (known !== undefined && known !== file && existsSync(known)) {
        return { errors: [{ text: `Two lazy bundles are named ${name}: ${known} and ${file}` }] };
      }
      bundles.set(name, file);
      return { path: `./${name}.js`, external: true };
    });
  },
});

/** Builds all bundles, including those that their builds add. Returns what is in each. */
export async function buildBundles(
  bundles: Map<string, string>,
  options: (name: string, entry: string) => BuildOptions,
): Promise<Metafile> {
  const metafile: Metafile = { inputs: {}, outputs: {} };
  const done = new Set<string>();
  while (done.size < bundles.size) {
    const next = [...bundles].filter(([name]) => !done.has(name));
    const results = await Promise.all(
      next.map(([name, entry]) => build({ ...options(name, entry), metafile: true })),
    );
    for (const [name] of next) done.add(name);
    for (const result of results) {
      Object.assign(metafile.inputs, result.metafile.inputs);
      Object.assign(metafile.outputs, result.metafile.outputs);
    }
  }
  return metafile;
}
