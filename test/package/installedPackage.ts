/** Installs packages without network and without another Postgres, and uses them in a real VS Code. */
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launchBrowser } from '../workbench/chromium.ts';
import { installWebWorkbench } from '../workbench/install.ts';
import { builtPackage } from './createPackage.ts';
import { runIsolated } from './isolation.ts';
import type { Target } from './targets.ts';

export interface InstalledPackage {
  /**
   * Each call is a new user with nothing installed: root, or an ordinary user.
   * @param program in this folder; prints its result
   * @param args after the package
   */
  try<Result>(program: string, as: 'root' | 'user', ...args: readonly string[]): Result;
  remove(): void;
}

/** @param target undefined for the universal package */
export async function installedPackage(target: Target | undefined): Promise<InstalledPackage> {
  // What would be downloaded or unpacked at the first use is in place before there is no network.
  await installWebWorkbench();
  await (await launchBrowser()).close();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-installed-'));
  const vsix = path.join(folder, 'hosted-postgres.vsix');
  cpSync(await builtPackage(target), vsix);
  return {
    try(program, as, ...args) {
      const own = mkdtempSync(path.join(folder, `${as}-`));
      chmodSync(own, 0o755); // It stands for /var/lib.
      const env = { PATH: process.env.PATH, TZ: 'UTC' };
      const output = runIsolated([process.execPath, path.join(import.meta.dirname, program), vsix, ...args], {
        folder: own,
        as,
        env,
      });
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
