// Installs what tests run from `CLIENTS_FOLDER`: the clients of docs/clients.md that are packages of npm, in the versions of its table,
// and zero-cache.
//   node scripts/installClients.ts FOLDER
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import process from 'node:process';
import { readText } from '../test/helpers/projectFiles.ts';
import { CLIENT_PROGRAMS, ZERO_CACHE } from '../test/real/tools/clientPrograms.ts';

const [folder = ''] = process.argv.slice(2);
if (folder === '') throw new Error('Name a folder.');
const table = readText('docs/clients.md');
const packages = Object.entries(CLIENT_PROGRAMS).flatMap(([client, { package: name }]) => {
  const row = table.split('\n').find((line) => line.startsWith(`| ${client} `));
  return name === undefined ? [] : [`${name}@${row?.split('|')[2]?.trim()}`];
});
mkdirSync(folder, { recursive: true });
const install = ['install', '--no-audit', '--no-fund', '--prefix', folder, ...new Set(packages), ZERO_CACHE];
execFileSync('npm', install, { stdio: 'inherit', shell: process.platform === 'win32' });
