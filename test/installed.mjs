// Installs what package-lock.json names when it is not installed yet, so that one command is enough on a
// fresh clone. It runs on whatever Node the machine has: the one that everything else runs on comes with it.
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
