/** Data directories that have the template of all branches already, because creating it takes longer than most tests. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { until } from '../workbench/until.ts';
import { builtService } from './builtService.ts';
import { makeOnce } from './sharedFolder.ts';

let prepared: Promise<string> | undefined;

/** Prepares a data directory, unless a service has used it already. */
export async function prepareStorage(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (readdirSync(dataDir).length > 0) return;
  prepared ??= makeOnce('storage', createStorage);
  const folder = await prepared;
  const target = path.join(dataDir, 'postgres');
  const source = path.join(folder, 'postgres');
  // Keeps the owner of the files.
  if (process.platform !== 'win32') execFileSync('cp', ['-a', source, target]);
  else cpSync(source, target, { recursive: true });
  const template = readdirSync(folder).find((name) => name.startsWith('template-')) ?? '';
  symlinkSync(path.join(folder, template), path.join(target, template), 'junction');
}

/** Runs a service until it has created the template, and keeps what it has stored: the template and `postgres`. */
async function createStorage(folder: string): Promise<void> {
  // A service of root reaches it after it became `nobody`.
  chmodSync(folder, 0o711);
  const [dataDir, storage] = [path.join(folder, 'data'), path.join(folder, 'data', 'postgres')];
  const program = [await builtService(), '--port', '0', '--api-key', 'k', '--data-dir', dataDir];
  const service = spawn(process.execPath, program, { stdio: 'ignore' });
  const template = await until('the template', async () => {
    const names = existsSync(storage) ? readdirSync(storage) : [];
    return names.find((name) => /^template-\d+$/.test(name));
  });
  service.kill('SIGTERM');
  await once(service, 'exit');
  renameSync(path.join(storage, template), path.join(folder, template));
  for (const name of readdirSync(storage))
    if (!['logins.json', 'tls'].includes(name)) rmSync(path.join(storage, name), { recursive: true });
  renameSync(storage, path.join(folder, 'postgres'));
  rmSync(dataDir, { recursive: true });
}
