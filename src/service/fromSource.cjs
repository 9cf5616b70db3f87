// `npm run service`: runs the service from its source. Caches the bundle together with the time and size of each source
// file, so that a start reads one file instead of a hundred until one of them changes. Only then are the dependencies
// checked as well, because a script that npm runs before each start takes as long as Node takes to start.
// Stack traces name lines of the bundle, because reading its source map would take longer than reading the bundle. For lines
// of the source: NODE_OPTIONS=--enable-source-maps npm run service
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const nodeModule = require('node:module');
const path = require('node:path');

const root = path.resolve(__dirname, '../..');
const cache = path.join(root, 'node_modules/.cache/hosted-postgres');
const bundle = path.join(cache, 'service.cjs');
const engineBundle = path.join(cache, 'engineProcess.cjs');
const stampsMark = '\n//stamps ';
const UNKNOWN = 'unknown';
const LOCK = 'package-lock.json';
const INSTALLED = 'node_modules/.package-lock.json';

void main();

async function main() {
  if (!existsSync(engineBundle) || !isUpToDate()) {
    const before = stampOf(INSTALLED);
    const installer = path.join(root, 'test/installDependencies.mjs');
    const { status } = spawnSync(process.execPath, [installer], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) return process.exit(status ?? 1);
    if (stampOf(INSTALLED) !== before) return startAgain();
    await makeBundle();
  }
  // Next to the bundle: the default is in the shared temporary folder, where any user can plant bytecode.
  nodeModule.enableCompileCache?.(path.join(cache, 'compiled'));
  require(bundle);
}

/** Runs on the Node that is among the dependencies and was just installed. */
function startAgain() {
  const node = path.join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const service = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => service.kill(signal));
  service.on('exit', (code) => process.exit(code ?? 1));
}

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
  const { build } = require('esbuild');
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
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const sources = [...Object.keys(metafile.inputs), path.relative(root, __filename), LOCK];
  const stamps = sources.map((file) => [file, stampOf(file, startedAt)]);
  const end = stampsMark + JSON.stringify(Object.fromEntries(stamps));
  mkdirSync(cache, { recursive: true });
  // The service comes last, because its stamps are valid for all files.
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
