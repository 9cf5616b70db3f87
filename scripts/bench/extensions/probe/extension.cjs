// Activates the two measured extensions one after the other, once the window is idle. Measures how long each takes to load
// and to activate. Also records what it imports, its calls of fetch during activation, and its calls of the secret storage.
// Writes the report some seconds later to the file that BENCH_PROBE_FILE names.
const { writeFileSync } = require('node:fs');
const { isBuiltin, registerHooks } = require('node:module');
const { fileURLToPath } = require('node:url');
// VS Code creates parts of its API for the first extension that requires it. That must be neither of the measured ones.
const { extensions } = require('vscode');

const idleMs = 1500;
const observeMs = 1500;
const REAL = '?real';
const measured = ['bench.empty', 'hosted-postgres.hosted-postgres'];
const reports = Object.fromEntries(
  measured.map((id) => [id, { load: 0, activate: 0, modules: [], lazy: [], uses: [] }]),
);
const isLoaded = new Set();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

exports.activate = () => {
  globalThis.benchProbe = { loaded, activate };
  registerHooks({ resolve, load });
  void measureAll();
};

async function measureAll() {
  await pause(idleMs);
  for (const id of measured) await extensions.getExtension(id).activate();
  await pause(observeMs);
  writeFileSync(process.env.BENCH_PROBE_FILE, JSON.stringify(reports));
}

function resolve(specifier, context, next) {
  const owner = ownerOf(context.parentURL);
  if (owner !== undefined && (isBuiltin(specifier) || specifier === 'vscode'))
    reports[owner].modules.push(specifier);
  else if (isLoaded.has(owner)) reports[owner].lazy.push(specifier);
  return next(specifier, context);
}

/** Replaces the main module by one that imports it. The time until that has its imports is the time to load. */
function load(url, context, next) {
  const id = ownerOf(url);
  if (id === undefined || reports[id].startedAt !== undefined) return next(url, context);
  reports[id].startedAt = performance.now();
  const [file, name] = [JSON.stringify(url + REAL), JSON.stringify(id)];
  const source = `import * as real from ${file};
benchProbe.loaded(${name});
export const activate = (context) => benchProbe.activate(${name}, real.activate, context);`;
  return { format: 'module', source, shortCircuit: true };
}

/** The measured extension that a file belongs to. Its folder has the version in its name. */
const ownerOf = (url) =>
  url?.startsWith('file:') ? measured.find((id) => fileURLToPath(url).includes(`${id}-0.`)) : undefined;

function loaded(id) {
  reports[id].load = performance.now() - reports[id].startedAt;
  isLoaded.add(id);
}

/** Other extensions cannot run in between, so a call of fetch in this time is the measured extension's. */
function activate(id, run, context) {
  const report = reports[id];
  const watched = watchSecrets(context, report);
  const { fetch } = globalThis;
  globalThis.fetch = (...args) => {
    report.uses.push('fetch');
    return fetch(...args);
  };
  const startedAt = performance.now();
  try {
    return run(watched);
  } finally {
    report.activate = performance.now() - startedAt;
    globalThis.fetch = fetch;
  }
}

/** Returns a context that records calls of its secret storage. Listening for changes is not recorded. */
function watchSecrets(context, report) {
  const recorded =
    (method) =>
    (...args) => {
      report.uses.push(`secrets.${method}`);
      return context.secrets[method](...args);
    };
  const secrets = {
    get: recorded('get'),
    store: recorded('store'),
    delete: recorded('delete'),
    onDidChange: context.secrets.onDidChange,
  };
  return Object.create(context, { secrets: { value: secrets } });
}
