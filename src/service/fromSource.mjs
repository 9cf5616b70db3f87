// `npm run service`: runs the service from its source. Caches the bundle together with the time and size of each source
// file, so that a start reads one file instead of a hundred until one of them changes.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'node_modules/.cache/hosted-postgres');
const bundle = path.join(cache, 'service.cjs');
const engineBundle = path.join(cache, 'engineProcess.cjs');
const stampsMark = '\n//stamps ';
const UNKNOWN = 'unknown';

// Next to the bundle: the default is in the shared temporary folder, where any user can plant bytecode.
enableCompileCache(path.join(cache, 'compiled'));
process.setSourceMapsEnabled(true);
if (!existsSync(engineBundle) || !isUpToDate()) await makeBundle();
createRequire(import.meta.url)(bundle);

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
  const startedAt = Date.now();
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    // A service that runs as root starts its engine as a separate program.
    entryPoints: {
      service: 'src/service/main.ts',
      engineProcess: 'src/service/engineProcess/engineProcess.ts',
    },
    outdir: cache,
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const sources = [...Object.keys(metafile.inputs), path.relative(root, import.meta.filename)];
  const stamps = sources.map((file) => [file, stampOf(file, startedAt)]);
  mkdirSync(cache, { recursive: true });
  // The service comes last, because its stamps are valid for both bundles.
  for (const { path: file, text } of outputFiles.toSorted((a) => (a.path === bundle ? 1 : -1))) {
    // Another start may write it at the same time; the last one wins, with a complete file.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, text + stampsMark + JSON.stringify(Object.fromEntries(stamps)));
    renameSync(unfinished, file);
  }
}

/** Changes with the text of a file. Unknown for a file that was written during the build. */
function stampOf(file, before = Infinity) {
  const { mtimeMs, size } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? {};
  return mtimeMs < before ? `${mtimeMs} ${size}` : UNKNOWN;
}
