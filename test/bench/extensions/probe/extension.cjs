// Activated before all others, it takes the time that loading and activating each of two extensions takes, and notes
// what they load: at once, and of their own within the next seconds. Told by BENCH_PROBE_FILE where to write.
const { writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
// Some of VS Code's API is made when an extension asks for it first, which in a window of yours is none of the two.
require('vscode');

const measured = {
  'hosted-postgres.hosted-postgres': /hosted-postgres\.hosted-postgres-[^/\\]*[/\\]dist/,
  'bench.empty': /bench\.empty-/,
};
const patienceMs = 1500;
const found = {};
let current;

exports.activate = () => {
  const load = Module._load;
  Module._load = function (request, parent, isMain) {
    const name = Object.keys(measured).find((id) => path.isAbsolute(request) && measured[id].test(request));
    if (name === undefined || found[name] !== undefined) {
      note(request, parent);
      return load.call(this, request, parent, isMain);
    }
    const result = { load: 0, activate: 0, modules: [], later: [] };
    found[name] = result;
    const loaded = timed(result, 'load', () => load.call(this, request, parent, isMain));
    const activate = (context) => timed(result, 'activate', () => loaded.activate(context));
    if (Object.keys(found).length === Object.keys(measured).length) setTimeout(tell, patienceMs);
    return { ...loaded, activate };
  };
};

function note(request, parent) {
  if (current !== undefined) current.modules.push(request);
  const owner = Object.keys(measured).find((id) => measured[id].test(parent?.filename ?? ''));
  if (current === undefined && found[owner] !== undefined) found[owner].later.push(request);
}

function timed(result, what, run) {
  current = result;
  const startedAt = performance.now();
  try {
    return run();
  } finally {
    result[what] = performance.now() - startedAt;
    current = undefined;
  }
}

function tell() {
  writeFileSync(process.env.BENCH_PROBE_FILE, JSON.stringify(found));
}
