// `npm run service`: runs the service from its source. Caches the bundle together with the time and size of each source
// file, so that a start reads one file instead of a hundred until one of them changes.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const bundle = path.join(root, 'node_modules/.cache/hosted-postgres/service.cjs');
const stampsMark = '\n//stamps ';
const UNKNOWN = 'unknown';

enableCompileCache();
process.setSourceMapsEnabled(true);
if (!isUpToDate()) await makeBundle();
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
    entryPoints: ['src/service/main.ts'],
    outfile: bundle,
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
  // Another start may write it at the same time; the last one wins, with a complete file.
  const unfinished = `${bundle}.${process.pid}`;
  mkdirSync(path.dirname(bundle), { recursive: true });
  writeFileSync(unfinished, outputFiles[0].text + stampsMark + JSON.stringify(Object.fromEntries(stamps)));
  renameSync(unfinished, bundle);
}

/** Changes with the text of a file. Unknown for a file that was written during the build. */
function stampOf(file, before = Infinity) {
  const { mtimeMs, size } = statSync(path.join(root, file), { throwIfNoEntry: false }) ?? {};
  return mtimeMs < before ? `${mtimeMs} ${size}` : UNKNOWN;
}
