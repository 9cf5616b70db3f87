import path from 'node:path';

/** Returns the path of a program of Windows. The path is absolute, because Windows searches the working folder before PATH. */
export const windowsProgram = (...names: readonly string[]): string =>
  path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', ...names);
