// `npm run service`: runs the service from its source. Caches the bundle together with the time and size of each source
// file, so that a start reads one file instead of a hundred until one of them changes.
// Stack traces name lines of the bundle, because reading its source map would take longer than reading the bundle. For lines
// of the source: NODE_OPTIONS=--enable-source-maps npm run service
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import nodeModule from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'node_modules/.cache/hosted-postgres');
const bundle = path.join(cache, 'service.mjs');
const stampsMark = '\n//stamps ';
const UNKNOWN = 'unknown';

if (!isUpToDate()) await makeBundle();
// Next to the bundle: the default is in the shared temporary folder, where any user can plant bytecode.
nodeModule.enableCompileCache?.(path.join(cache, 'compiled'));
await import(pathToFileURL(bundle));

function isUpToDate() {
  let stamps;
  try {
    const text = readFileSync(bundle, 'utf8');
    stamps = JSON.parse(text.slice(text.lastIndexOf(stampsMark) + stampsMark.length));
  } catch {
    return false; // Missing or damaged.
  }
  return Object.entries(stamps).every(([file, stamp]) => stamp !== UNKNOWN && stampOf(file) === stamp);
}

async function makeBundle() {
  const { build } = await import('esbuild');
  const { bundleOptions } = await import('./bundleOptions.ts');
  const startedAt = Date.now();
  const { metafile, outputFiles } = await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: ['src/service/main.ts'],
    outfile: bundle,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    write: false,
  });
  // A changed lock file may have changed a bundled package, and this file the options.
  const others = [import.meta.filename, path.join(import.meta.dirname, 'bundleOptions.ts')];
  const sources = [
    ...Object.keys(metafile.inputs),
    'package-lock.json',
    ...others.map((file) => path.relative(root, file)),
  ];
  const stamps = sources.map((file) => [file, stampOf(file, startedAt)]);
  const end = stampsMark + JSON.stringify(Object.fromEntries(stamps));
  mkdirSync(cache, { recursive: true });
  // The bundle comes last, because its stamps are valid for both files.
  for (const { path: file, text } of outputFiles.toSorted((a) => (a.path === bundle ? 1 : -1))) {
    // Another start may write it at the same time; the last one wins, with a complete file.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, file === bundle ? text + end : text);
    renameSync(unfinished, file);
  }
}

/** Changes with the text of a file. Unknown for a file that was written during the build. */
function stampOf(file, before = Infinity) {
  const { mtimeMs, size } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? {};
  return mtimeMs === undefined || mtimeMs < before ? `${mtimeMs} ${size}` : UNKNOWN;
}
