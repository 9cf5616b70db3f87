/** Installs the package for linux-x64 without network and without another Postgres, and uses it in a real VS Code. */
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findChromium } from '../../test/workbench/chromium.ts';
import { installWebWorkbench } from '../../test/workbench/install.ts';
import { builtPackage } from './createPackage.ts';
import { runIsolated } from './isolation.ts';
import type { Tried } from './tryInstalled.ts';

export interface InstalledPackage {
  /**
   * Each call is a new user with nothing installed: root, or an ordinary user.
   * @param pause before the click, in milliseconds
   */
  try(as: 'root' | 'user', pause?: string): Tried;
  remove(): void;
}

export async function installedPackage(): Promise<InstalledPackage> {
  // What would be downloaded or unpacked at the first use is in place before there is no network.
  await installWebWorkbench();
  await findChromium();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-installed-'));
  const vsix = path.join(folder, 'hosted-postgres.vsix');
  cpSync(await builtPackage('linux-x64'), vsix);
  return {
    try(as, pause = '0') {
      const own = mkdtempSync(path.join(folder, `${as}-`));
      chmodSync(own, 0o755); // It stands for /var/lib.
      const program = path.join(import.meta.dirname, 'tryInstalled.ts');
      const env = { PATH: process.env.PATH, TZ: 'UTC' };
      const output = runIsolated([process.execPath, program, vsix, pause], { folder: own, as, env });
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
