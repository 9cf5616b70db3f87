/** Folders and files that only the user of the engine can read. */
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Makes a folder and its parents. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Writes a file. A crash leaves the old one or the new. */
export function writePrivateFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  // What a killed service left here may belong to root: an engine of an earlier version wrote as root.
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, file);
}
