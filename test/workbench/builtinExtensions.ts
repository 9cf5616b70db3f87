import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { installWebWorkbench } from './install.ts';

/** Themes, icons, Git, and the languages of the files that the suites open. */
const needed = [
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
 * Fills a new folder with links to the built-in extensions that the suites need. With all of them (almost a hundred,
 * debuggers and assistants included) a window takes 1.5 times as long to open. Extensions that also run in the
 * browser are kept, because the page expects to find them.
 */
export async function linkBuiltinExtensions(folder: string): Promise<void> {
  const all = path.join(await installWebWorkbench(), 'extensions');
  await mkdir(folder);
  for (const name of await readdir(all)) {
    const source = path.join(all, name);
    if (needed.includes(name) || (await runsInBrowser(source)))
      await symlink(source, path.join(folder, name), 'junction');
  }
}

async function runsInBrowser(extension: string): Promise<boolean> {
  // Not every entry is an extension.
  const manifest = await readFile(path.join(extension, 'package.json'), 'utf8').catch(() => '{}');
  return 'browser' in JSON.parse(manifest);
}
