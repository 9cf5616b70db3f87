/** Searches all that a window leaves behind for secrets: files, the browser's storage, the page, and the processes. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { familyOf } from '../../workbench/processes.ts';

/** Where something was found: a file, a database entry, an argument list… */
export type Places = Map<string, Buffer>;

/** What the secret looks like where it was encoded on its way. */
const formsOf = (secret: string): Buffer[] => [
  Buffer.from(secret),
  Buffer.from(secret, 'utf16le'),
  Buffer.from(encodeURIComponent(secret)),
  Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1)),
  Buffer.from(Buffer.from(secret).toString('hex')),
];

/** @returns the places that hold it */
export const placesWith = (places: Places, secret: string): string[] =>
  [...places]
    .filter(([, content]) => formsOf(secret).some((form) => content.includes(form)))
    .map(([place]) => place);

/** Every file below the folder. */
export async function addFiles(places: Places, folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    // Gone since it was listed: a lock, a temporary file.
    const content = await readFile(file).catch(() => undefined);
    if (content !== undefined) places.set(file, content);
  }
}

/** Arguments and environment of everything below these processes. Linux alone shows them. */
export async function addProcesses(places: Places, roots: readonly number[]): Promise<void> {
  for (const pid of await familyOf(roots)) {
    for (const what of ['cmdline', 'environ']) {
      const file = `/proc/${pid}/${what}`;
      const content = await readFile(file).catch(() => undefined);
      if (content !== undefined) places.set(file, content);
    }
  }
}

const READ_STORAGE = `(async () => {
  const found = [];
  const add = (place, value) => found.push([place, typeof value === 'string' ? value : JSON.stringify(value)]);
  for (const [name, storage] of [['localStorage', localStorage], ['sessionStorage', sessionStorage]])
    for (const key of Object.keys(storage)) add(name + ' ' + key, storage.getItem(key));
  add('cookies', document.cookie);
  const wait = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  for (const { name } of await indexedDB.databases()) {
    const database = await wait(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const content = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([wait(content.getAllKeys()), wait(content.getAll())]);
      keys.forEach((key, index) => {
        const value = values[index];
        add([name, store, key].join(' '), value instanceof Uint8Array ? new TextDecoder().decode(value) : value);
      });
    }
    database.close();
  }
  return found;
})()`;

/** Settings, global and workspace state, and the sealed secrets of the web workbench: all that the browser keeps. */
export async function addBrowserStorage(places: Places, page: Page): Promise<void> {
  const found = await page.evaluate<[string, string][]>(READ_STORAGE);
  for (const [place, value] of found) places.set(place, Buffer.from(value));
}

/** The page as it stands, notifications, tooltips and output that are on screen included. */
export async function addPage(places: Places, page: Page, moment: string): Promise<void> {
  places.set(`the page, ${moment}`, Buffer.from(await page.content()));
}
