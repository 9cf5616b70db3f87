// Activates before the two measured extensions. Measures how long each takes to load and to activate. Also records the
// modules that it requires, its calls of fetch during activation, and its calls of the secret storage. Writes the report
// some seconds later to the file that BENCH_PROBE_FILE names.
const { writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
// VS Code creates parts of its API for the first extension that requires it. That must be neither of the measured ones.
require('vscode');

const measured = {
  'hosted-postgres.hosted-postgres': /hosted-postgres\.hosted-postgres-[^/\\]*[/\\]dist/,
  'bench.empty': /bench\.empty-/,
};
const observeMs = 1500;
const reports = {};

exports.activate = () => {
  const load = Module._load;
  Module._load = function (request, parent, isMain) {
    const name = Object.keys(measured).find((id) => path.isAbsolute(request) && measured[id].test(request));
    if (name === undefined || reports[name] !== undefined) {
      const owner = Object.keys(measured).find((id) => measured[id].test(parent?.filename ?? ''));
      reports[owner]?.modules.push(request);
      return load.call(this, request, parent, isMain);
    }
    const report = { load: 0, activate: 0, modules: [], uses: [] };
    reports[name] = report;
    const loaded = timed(report, 'load', () => load.call(this, request, parent, isMain));
    const activate = (context) => {
      const watched = watchSecrets(context, report);
      return timed(report, 'activate', () => loaded.activate(watched));
    };
    if (Object.keys(reports).length === Object.keys(measured).length) setTimeout(write, observeMs);
    return { ...loaded, activate };
  };
};

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

/** Other extensions cannot run in between, so a call of fetch in this time is the measured extension's. */
function timed(report, what, run) {
  const { fetch } = globalThis;
  globalThis.fetch = (...args) => {
    report.uses.push('fetch');
    return fetch(...args);
  };
  const startedAt = performance.now();
  try {
    return run();
  } finally {
    report[what] = performance.now() - startedAt;
    globalThis.fetch = fetch;
  }
}

function write() {
  writeFileSync(process.env.BENCH_PROBE_FILE, JSON.stringify(reports));
}
