import path from 'node:path';

/** The root of the project: the extension's development path, and the working directory of scripts. */
export const projectRoot = path.resolve(import.meta.dirname, '..', '..');

/** Holds what is downloaded and what VS Code writes when it runs here. Git-ignored and safe to delete. */
export const cacheFolder = path.join(projectRoot, '.vscode-test', 'web');
