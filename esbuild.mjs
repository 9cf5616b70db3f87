// Builds what ships (dist/extension.js, the bundles that it loads lazily, and dist/service.js) and, with `--tests`,
// the suites that run inside VS Code (dist/test/index.js). `--production` adds the third-party notices, `--watch` builds
// again with each change.
// Every dynamic `import('./x.ts')` in src/ becomes a separate bundle, dist/x.js. So activation loads only
// dist/extension.js, and everything else is loaded on first use.
import { build, context } from 'esbuild';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildBundles, lazyBundles } from './test/package/lazyBundles.ts';

const watch = process.argv.includes('--watch');
const tests = process.argv.includes('--tests');
const production = process.argv.includes('--production');

/** The known bundles: name → source file. The build of a bundle adds those that it imports lazily. */
const bundles = new Map([
  ['extension', path.resolve('src/extension.ts')],
  ['service', path.resolve('src/service/main.ts')],
  ['engineProcess', path.resolve('src/service/engineProcess/engineProcess.ts')],
]);

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  external: ['vscode'],
  // Loads bundles by `require`. Node's `import` would first scan the text of each for its exports.
  supported: { 'dynamic-import': false },
  // Where the program lies, in the source (`src/service/core/installation.ts`) and in a bundle.
  define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

// Many files import `vscode`, and each `require` makes VS Code look up the calling extension. So require it once.
const apiOnce =
  'var require = ((load, api) => (id) => id === "vscode" ? (api ??= load(id)) : load(id))(require);';

const options = (name, entry) => ({
  ...shared,
  banner: { js: apiOnce },
  entryPoints: { [name]: entry },
  outdir: 'dist',
  plugins: [lazyBundles(bundles)],
});

async function buildAll() {
  const metafile = await buildBundles(bundles, options);
  await writeFile('dist/meta.json', JSON.stringify(metafile));
  return metafile;
}

const testOptions = {
  ...shared,
  minify: false,
  sourcemap: 'inline',
  entryPoints: { 'test/index': path.resolve('test/host/inside/index.ts') },
  external: ['vscode', 'mocha'],
  outdir: 'dist',
};

/** Builds again with each change until the process ends. .vscode/tasks.json matches what it prints. */
async function watchAll() {
  const watched = new Set();
  const building = new Set();
  const report = (entry) => ({
    name: 'report',
    setup(build) {
      build.onStart(() => {
        if (building.size === 0) console.log('[watch] build started');
        building.add(entry);
      });
      build.onEnd(async ({ errors }) => {
        // A file that was moved or deleted is no longer a bundle.
        if (existsSync(entry)) for (const error of errors) console.error(lineOf(error));
        await watchNew();
        building.delete(entry);
        if (building.size === 0) console.log('[watch] build finished');
      });
    },
  });
  // A change may add a lazy bundle.
  const watchNew = async () => {
    for (const [name, entry] of bundles) {
      if (watched.has(entry)) continue;
      watched.add(entry);
      building.add(entry);
      const { plugins, ...rest } = options(name, entry);
      const bundle = await context({ ...rest, logLevel: 'silent', plugins: [...plugins, report(entry)] });
      await bundle.watch();
    }
  };
  console.log('[watch] build started');
  await watchNew();
}

function lineOf({ text, location }) {
  if (location === null) return `error: ${text}`;
  return `${location.file}:${location.line}:${location.column + 1}: error: ${text}`;
}

if (watch) {
  await watchAll();
} else {
  await rm('dist', { recursive: true, force: true });
  const metafile = await buildAll();
  if (tests) await build(testOptions);
  if (production) await finishForProduction(metafile);
}

async function finishForProduction(metafile) {
  const { NOTICES, thirdPartyNotices } = await import('./test/package/thirdPartyNotices.ts');
  await writeFile(NOTICES, await thirdPartyNotices(metafile, '.'));
  const { measureSizes, overweight, readBudget } = await import('./test/bench/budget.ts');
  const problems = overweight(await measureSizes('dist'), await readBudget());
  if (problems.length > 0) throw new Error(`Too large, ${problems.join('; ')} (test/bench/budget.json)`);
}
