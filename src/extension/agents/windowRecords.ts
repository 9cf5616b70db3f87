/** The records by which the MCP program finds the windows that listen: a file for each window, which only the user can read. */
import { readdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { isWithin } from '../../base/files.ts';
import { isAlive } from '../../base/programs/isAlive.ts';

const WindowRecord = z.object({
  socket: z.string(),
  token: z.string(),
  /** The folders of the workspace. */
  folders: z.array(z.string()),
});
export type WindowRecord = z.infer<typeof WindowRecord>;

export const windowRecordFile = (folder: string, pid: number): string => path.join(folder, `${pid}.json`);

interface FoundWindow extends WindowRecord {
  readonly pid: number;
  /** When the window last had the focus, in milliseconds since 1970. */
  readonly usedAt: number;
}

async function readWindows(folder: string): Promise<FoundWindow[]> {
  const found: FoundWindow[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\d+\.json$/.test(name)) continue;
    const file = path.join(folder, name);
    try {
      const record = WindowRecord.parse(JSON.parse(await readFile(file, 'utf8')));
      found.push({ ...record, pid: Number.parseInt(name, 10), usedAt: (await stat(file)).mtimeMs });
    } catch {
      // The window of this record has just ended, or a later version has written the record.
    }
  }
  return found;
}

/**
 * Returns the windows, the best first: the one that started the program, then those that have its folder open, the innermost
 * first, then the one that the user used last.
 */
export async function findWindows(
  folder: string,
  { pid, workingFolder }: { readonly pid: number; readonly workingFolder?: string | undefined },
): Promise<FoundWindow[]> {
  const resolveLinks = (entry: string) => realpath(entry).catch(() => entry);
  const current = workingFolder && (await resolveLinks(workingFolder));
  const ranked = (await readWindows(folder)).map(async (found) => {
    const open = (await Promise.all(found.folders.map(resolveLinks))).filter(
      (entry) => current !== undefined && isWithin(entry, current),
    );
    const longestMatch = Math.max(0, ...open.map(({ length }) => length));
    return { ...found, rank: found.pid === pid ? Number.MAX_VALUE : longestMatch };
  });
  return (await Promise.all(ranked)).toSorted((a, b) => b.rank - a.rank || b.usedAt - a.usedAt);
}

/** Removes the records and sockets of windows that ended without cleaning up. */
export async function removeStaleRecords(folder: string): Promise<void> {
  for (const { pid, socket } of await readWindows(folder)) {
    if (isAlive(pid)) continue;
    await rm(windowRecordFile(folder, pid), { force: true });
    if (process.platform === 'win32') continue;
    // The socket may be in a temporary folder, which may belong to another user by now.
    await rm(socket, { force: true }).catch(() => undefined);
    if (path.dirname(socket) !== folder) await rmdir(path.dirname(socket)).catch(() => undefined);
  }
}
