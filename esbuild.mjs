// Builds what ships into dist/: the extension, with a chunk for what each dynamic `import()` loads on first use, the local
// service, the MCP server, and the program that runs psql in terminals. `--tests` adds the suites that run inside VS Code,
// `--production` the third-party notices and a check of the sizes, and `--watch` builds again with each change
// (.vscode/tasks.json matches what esbuild then prints).
import { build, context } from 'esbuild';
import { writeFile } from 'node:fs/promises';
import { mcpOptions } from './src/mcp/bundleOptions.ts';
import { testBundleOptions } from './src/npm/library/bundleOptions.ts';
import { bundleOptions, programBanner } from './src/service/bundleOptions.ts';
import { removeBuild } from './scripts/package/targets.ts';

const isProduction = process.argv.includes('--production');
const shipped = {
  ...bundleOptions,
  minify: isProduction,
  sourcemap: !isProduction,
  metafile: true,
  // The names of chunks and the notices depend on the paths of sources, and must be the same for each build of a package.
  preserveSymlinks: true,
  outdir: 'dist',
};
const extension = {
  ...shipped,
  entryPoints: ['src/extension/extension.ts'],
  splitting: true,
  external: ['vscode'],
  // Its main file loads others in a way that esbuild doesn't see.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
};
const service = {
  ...shipped,
  banner: programBanner,
  entryPoints: { service: 'src/service/main.ts' },
};
const terminalProgram = {
  ...shipped,
  entryPoints: { terminalProgram: 'src/extension/connection/terminalProgram.ts' },
};
const npm = {
  ...shipped,
  banner: programBanner,
  entryPoints: { main: 'src/npm/main.ts' },
  outdir: 'dist/npm',
};
const testLibrary = { ...shipped, ...testBundleOptions, outdir: 'dist/npm' };
const mcp = { ...shipped, banner: programBanner, ...mcpOptions };
const tests = {
  ...bundleOptions,
  sourcemap: 'inline',
  entryPoints: ['test/host/inside/index.ts'],
  external: ['vscode', 'mocha'],
  outdir: 'dist/test',
};

await removeBuild('dist');
if (process.argv.includes('--watch')) await watchAll();
else await buildAll();

async function watchAll() {
  for (const options of [service, mcp, terminalProgram, npm, testLibrary, extension]) {
    const watched = await context({ ...options, logLevel: 'info' });
    await watched.watch();
  }
}

async function buildAll() {
  const results = await Promise.all(
    [service, mcp, terminalProgram, npm, testLibrary, extension].map((options) => build(options)),
  );
  const outputs = Object.assign({}, ...results.map(({ metafile }) => metafile.outputs));
  await writeFile('dist/meta.json', JSON.stringify({ outputs }));
  if (process.argv.includes('--tests')) await build(tests);
  if (isProduction) await finishForProduction(outputs);
}

async function finishForProduction(outputs) {
  const { NOTICES, thirdPartyNotices } = await import('./scripts/package/thirdPartyNotices.ts');
  await writeFile(NOTICES, await thirdPartyNotices({ outputs }, '.'));
  const { measureSizes, overweight, readBudget } = await import('./scripts/bench/budget.ts');
  const problems = overweight(await measureSizes('dist'), await readBudget());
  if (problems.length > 0) throw new Error(`Too large, ${problems.join('; ')} (scripts/bench/budget.json)`);
}
