// Installs the dependencies if package-lock.json is newer than the installed ones, so that one command is enough on a
// fresh clone. This script runs on the machine's Node. All others run on the Node that is among the dependencies.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  console.log('Installing the dependencies…');
  const npm = process.env.npm_execpath;
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } =
    npm === undefined
      ? spawnSync('npm', args, { stdio: ['ignore', 'inherit', 'inherit'], shell: true })
      : spawnSync(process.execPath, [npm, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  process.exitCode = status ?? 1;
}
