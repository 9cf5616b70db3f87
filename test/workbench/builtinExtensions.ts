import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { installWebWorkbench } from './install.ts';

/** Colours, icons, git, and the languages of the files that the suites open. */
const met = [
  'dotenv',
  'git',
  'ini',
  'json',
  'markdown-basics',
  'sql',
  'theme-defaults',
  'theme-modern-icons',
  'theme-seti',
];

/**
 * Fills a new folder with links to the extensions of VS Code that the suites meet. With all of the nearly hundred,
 * debuggers and assistants among them, a window takes half as much time again to open. Those that also run in a
 * browser are part of the page, which would look for them in vain.
 */
export async function linkBuiltinExtensions(folder: string): Promise<void> {
  const all = path.join(await installWebWorkbench(), 'extensions');
  await mkdir(folder);
  for (const name of await readdir(all)) {
    const source = path.join(all, name);
    if (met.includes(name) || (await runsInBrowser(source)))
      await symlink(source, path.join(folder, name), 'junction');
  }
}

async function runsInBrowser(extension: string): Promise<boolean> {
  // Not every entry is an extension.
  const manifest = await readFile(path.join(extension, 'package.json'), 'utf8').catch(() => '{}');
  return 'browser' in JSON.parse(manifest);
}
