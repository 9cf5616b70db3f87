// Runs a script, as `node scripts/withDependencies.mjs SCRIPT [ARGS…]`. Before, it installs the dependencies if
// package-lock.json is newer than the installed ones, so that one command is enough on a fresh clone. This file runs on the
// machine's Node, and the script on the Node that is among the dependencies.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const changedAt = (file) => statSync(path.join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const script = path.resolve(process.argv[2] ?? '');

if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) {
  process.argv.splice(1, 2, script);
  await import(pathToFileURL(script));
} else {
  install();
  const node = process.platform === 'win32' ? 'node.exe' : 'node';
  run(path.join(root, 'node_modules/node/bin', node), [script, ...process.argv.slice(3)], 'inherit');
}

function install() {
  console.error('Installing the dependencies…');
  const npm = process.env.npm_execpath;
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  // On standard error, because programs read the output of scripts.
  const stdio = ['ignore', 2, 2];
  if (npm === undefined) run('npm', args, stdio, process.platform === 'win32');
  else run(process.execPath, [npm, ...args], stdio);
}

/** Ends with the exit code of the program if it fails. */
function run(command, args, stdio, shell = false) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio, shell });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
