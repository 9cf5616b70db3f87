import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from './folders.ts';

/**
 * Installs the project in an extensions folder by a link, so that "Reload Window" picks up a new build. The list of
 * extensions is deleted with the rest of the folder, so that the server creates it again.
 */
export async function linkProject(extensionsFolder: string): Promise<void> {
  const manifest: unknown = JSON.parse(await readFile(path.join(projectRoot, 'package.json'), 'utf8'));
  await rm(extensionsFolder, { recursive: true, force: true });
  await mkdir(extensionsFolder, { recursive: true });
  await symlink(projectRoot, path.join(extensionsFolder, folderName(manifest)), 'junction');
}

function folderName(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'publisher' in manifest) {
    const { publisher, name, version } = { name: '', version: '', ...manifest };
    return `${String(publisher)}.${name}-${version}`;
  }
  throw new Error('package.json names no publisher');
}
