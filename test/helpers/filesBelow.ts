import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Returns all files below a folder, without those in folders that are being removed. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = entries.map(async (entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(file).catch(() => []);
    return entry.isFile() ? [file] : [];
  });
  return (await Promise.all(lists)).flat();
}
