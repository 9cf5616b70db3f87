import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';

/** Reads a file by its path from the root of the project. */
export const readText = (file: string): string => readFileSync(path.join(projectRoot, file), 'utf8');

/** The files below a folder of the project whose names end with this, as paths from the root with slashes. */
export const projectFiles = (folder: string, suffix = ''): string[] =>
  readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')));
