import path from 'node:path';

/** Returns the path of the launcher. @param folder the folder for the launcher and the records of windows */
export const launcherFile = (folder: string): string =>
  path.join(folder, process.platform === 'win32' ? 'hosted-postgres-mcp.cmd' : 'hosted-postgres-mcp');
