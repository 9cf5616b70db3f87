/** What takes long to make and is only read, such as the built service: made once for all processes of a test run. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { installOnce } from '../workbench/installOnce.ts';

let own: string | undefined;

/** `test/run.ts` names the folder. A process that it did not start has one for itself. */
function sharedFolder(): string {
  const shared = process.env['TEST_SHARED_FOLDER'];
  if (shared !== undefined) return shared;
  if (own === undefined) {
    const folder = (own = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-shared-')));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    // A service of root reaches it after it became `nobody`.
    chmodSync(folder, 0o711);
  }
  return own;
}

/** Returns the folder of that name, after `fill` has written its content if no process has. */
export const makeOnce = async (name: string, fill: (staging: string) => Promise<void>): Promise<string> =>
  installOnce(path.join(sharedFolder(), name), fill);
