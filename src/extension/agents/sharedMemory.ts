/**
 * Stores what agents own and have called, in a file that all windows and all agents without a window share. A change creates the next
 * version of the file, which only one process can do. If another process was faster, the change is made again to that version. So no
 * change is lost, and a process that is killed leaves nothing locked.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { ignoreMissing, readOwnJsonFile } from '../../base/files.ts';
import { createFileSync } from '../../base/replaceFile.ts';
import type { SharedMemory, SharedValues } from '../window/memory.ts';

const NAME = /^agents-(\d{1,15})\.json$/;

/** The milliseconds for which files of old versions are kept, so that a slow process can't create a file with an old number again. */
const KEEP_OLD_VERSIONS = 60_000;

/** @param initial what there was before the first version */
export function sharedMemory(folder: string, initial: () => SharedValues = () => ({})): SharedMemory {
  const fileOf = (version: number) => path.join(folder, `agents-${version}.json`);
  let last: { readonly version: number; readonly values: SharedValues } | undefined;
  const read = () => {
    for (;;) {
      const versions = versionsIn(folder);
      const version = versions.at(-1) ?? 0;
      if (last?.version === version) return last;
      const values = version === 0 ? initial() : readNewest(versions.map(fileOf));
      if (values !== undefined) return (last = { version, values });
      // A file may be gone because another process has removed it. Then there are newer ones.
      if (versionsIn(folder).at(-1) === version) throw new Error(`${fileOf(version)} can't be read`);
    }
  };
  return {
    values: () => read().values,
    change(next) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (;;) {
        const { version, values } = read();
        if (!createFileSync(fileOf(version + 1), JSON.stringify(next(values)))) continue;
        const old = versionsIn(folder).filter((each) => each < version);
        for (const file of old.map(fileOf)) if (isOld(file)) rmSync(file, { force: true });
        return;
      }
    },
  };
}

/**
 * Returns the values of the newest file that has some. A file of version 0.4 or earlier may be empty after a loss of power.
 * @param files in ascending order
 * @returns undefined if the system can't read a file now. The values of the file before it would replace newer ones at the next change
 */
function readNewest(files: readonly string[]): SharedValues | undefined {
  for (const file of files.toReversed())
    try {
      return readOwnJsonFile(file);
    } catch (error) {
      // Only the system's errors have a code.
      if (fieldsOf(error).code !== undefined) return undefined;
    }
  return {};
}

function isOld(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > KEEP_OLD_VERSIONS;
}

/** Returns the versions in ascending order. */
function versionsIn(folder: string): number[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch (error) {
    ignoreMissing(Object(error));
  }
  return names
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}
