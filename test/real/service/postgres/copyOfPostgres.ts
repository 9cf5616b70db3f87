import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { usualPostgres } from './usualPostgres.ts';

/** Copies the programs of the usual Postgres, and links its libraries and its share folder. */
export function copyOfPostgres(isKept: (library: string) => boolean = () => true) {
  const found = usualPostgres();
  const root = temporaryFolder();
  chmodSync(root, 0o755);
  const [folder, lib] = [path.join(root, 'bin'), path.join(root, 'lib')];
  for (const each of [folder, lib]) mkdirSync(each);
  for (const name of ['postgres', 'initdb']) cpSync(path.join(found.folder, name), path.join(folder, name));
  const source = path.join(found.folder, '..');
  symlinkSync(path.join(source, 'share'), path.join(root, 'share'));
  for (const name of readdirSync(path.join(source, 'lib')).filter(isKept))
    symlinkSync(path.join(source, 'lib', name), path.join(lib, name));
  return { root, folder, remove: () => rmSync(root, { recursive: true }) };
}
