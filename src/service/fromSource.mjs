// `npm run service`: the service from its source. The bundle that esbuild makes of it is kept for the next start, with
// the time and size of each file that went into it: while they are the same, a start reads one file, not a hundred.
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
    return false; // None was made yet, or something else has been at it.
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
  // The service last: its stamps count for both bundles.
  for (const { path: file, text } of outputFiles.toSorted((a) => (a.path === bundle ? 1 : -1))) {
    // Another start may be at it as well: whoever is last puts the whole of its own in the place.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, text + stampsMark + JSON.stringify(Object.fromEntries(stamps)));
    renameSync(unfinished, file);
  }
}

/** What changes with the text of a file. None is kept of one that was written while it was being read. */
function stampOf(file, before = Infinity) {
  const { mtimeMs, size } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? {};
  return mtimeMs < before ? `${mtimeMs} ${size}` : UNKNOWN;
}
