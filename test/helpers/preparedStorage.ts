/**
 * Data directories that have the template of all branches already, because creating it takes longer than most tests. It is
 * created once for all tests of a process.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { until } from '../workbench/until.ts';
import { builtService } from './builtService.ts';

let prepared: Promise<string> | undefined;

/** Prepares a data directory, unless a service has used it already. */
export async function prepareStorage(dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (readdirSync(dataDir).length > 0) return;
  prepared ??= createStorage();
  // Keeps the owner of the files. The template itself is a link.
  execFileSync('cp', ['-a', await prepared, path.join(dataDir, 'postgres')]);
}

/** Runs a service until it has created the template. */
async function createStorage(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-prepared-'));
  // A service of root reaches it after it became `nobody`.
  chmodSync(folder, 0o711);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
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
  symlinkSync(path.join(folder, template), path.join(storage, template));
  return storage;
}
