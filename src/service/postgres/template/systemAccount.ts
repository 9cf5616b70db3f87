/**
 * Whether the system has an account, as in `/etc/passwd`, for the user that this process runs as. initdb and single-user servers
 * need one, other servers don't.
 */
import os from 'node:os';

export function hasAccount(): boolean {
  try {
    return os.userInfo().username !== '';
  } catch {
    return false;
  }
}

/** Returns a message for users. @param folder the folder of an initdb that can't run */
export const missingAccountMessage = (folder: string): string =>
  `The initdb of ${folder} needs a user account, and this system has none with the id ${process.getuid?.()}. Add a line to /etc/passwd, or use the Postgres of the npm package or the extension, which needs none.`;
