/** Collects everything that a window leaves behind (files, browser storage, page, processes) and searches it for secrets. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { filesBelow } from '../../helpers/filesBelow.ts';
import { processTree } from '../../workbench/processes.ts';

/** The content of each place: a file, a database entry, an argument list… */
export type Places = Map<string, Buffer>;

/** Returns the secret in every encoding in which it could be stored. */
const encodingsOf = (secret: string): Buffer[] => [
  Buffer.from(secret),
  Buffer.from(secret, 'utf16le'),
  Buffer.from(encodeURIComponent(secret)),
  Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1)),
  Buffer.from(Buffer.from(secret).toString('hex')),
];

/** Returns the places that contain the secret. */
export const placesWith = (places: Places, secret: string): string[] =>
  [...places]
    .filter(([, content]) => encodingsOf(secret).some((encoded) => content.includes(encoded)))
    .map(([place]) => place);

/** Adds every file below the folder. */
export async function addFiles(places: Places, folder: string): Promise<void> {
  for (const file of await filesBelow(folder)) {
    // Locks and temporary files may be removed before they are read.
    const content = await readFile(file).catch(() => undefined);
    if (content !== undefined) places.set(file, content);
  }
}

/** Adds the arguments and environment of the processes and their descendants. Works only on Linux. */
export async function addProcesses(places: Places, roots: readonly number[]): Promise<void> {
  for (const pid of await processTree(roots)) {
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

/** Adds everything that the browser stores: settings, global and workspace state, and the encrypted secrets. */
export async function addBrowserStorage(places: Places, page: Page): Promise<void> {
  const found = await page.evaluate<[string, string][]>(READ_STORAGE);
  for (const [place, value] of found) places.set(place, Buffer.from(value));
}

/** Adds the current page, including visible notifications, tooltips and output. */
export async function addPage(places: Places, page: Page, moment: string): Promise<void> {
  places.set(`the page, ${moment}`, Buffer.from(await page.content()));
}
