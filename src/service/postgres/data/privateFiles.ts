/** Folders and files that only the user of the engine can read. */
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { EngineError } from '../../core/computeEngine.ts';
import { systemReason } from '../../core/systemReason.ts';

/** Makes a folder and its parents. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Writes a file. A crash leaves the old one or the new. @throws {EngineError} which names the file */
export function writePrivateFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  try {
    // What a killed service left here may belong to root: an engine of an earlier version wrote as root.
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, text, { mode: 0o600, flush: true });
    renameSync(unfinished, file);
  } catch (error) {
    // The system's message does not name a file that is open.
    throw new EngineError(`Cannot write ${file}: ${systemReason(error)}`, { cause: error });
  }
}
