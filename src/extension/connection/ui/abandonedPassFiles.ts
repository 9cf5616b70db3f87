/** Removes password files that killed windows left behind. This isn't in `passFiles.ts`, because it is needed at activation. */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Uri } from 'vscode';
import { isAlive } from '../../../base/programs/isAlive.ts';

/** A folder of `passFiles.ts`, whose name contains the id of the process that created it. */
const FOLDER = /^psql-(\d+)-/;

export async function removeAbandonedPassFiles({ fsPath: storage }: Pick<Uri, 'fsPath'>): Promise<void> {
  for (const name of await readdir(storage).catch(() => [])) {
    const pid = Number(FOLDER.exec(name)?.[1] ?? process.pid);
    if (!isAlive(pid)) await rm(path.join(storage, name), { recursive: true, force: true });
  }
}
