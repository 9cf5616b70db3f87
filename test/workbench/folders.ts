import path from 'node:path';

/** The project's root: the extension as a development path, and where scripts run. */
export const projectRoot = path.resolve(import.meta.dirname, '..', '..');

/** Everything downloaded or written while VS Code runs for us. Git-ignored; deleting it costs a download. */
export const cacheFolder = path.join(projectRoot, '.vscode-test', 'web');
