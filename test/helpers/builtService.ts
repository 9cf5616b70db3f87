/**
 * Bundles the local service once for all tests of a process. A start takes a fifth of the CPU time
 * of a start from the sources.
 */
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../src/service/bundleOptions.ts';
import { projectRoot } from '../workbench/folders.ts';

/** In the folder of {@link builtService}: `node --import` loads it into the service. */
export const BUILT_RECORDER = 'recorder.js';

let built: Promise<string> | undefined;

/** Returns the bundle's file, which exists until the tests end. */
export const builtService = (): Promise<string> => (built ??= buildService());

async function buildService(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-built-'));
  // Also for tests that run it as another user.
  chmodSync(folder, 0o755);
  // Where the service looks for Postgres.
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const outdir = path.join(folder, 'dist');
  const entryPoints = {
    service: 'src/service/main.ts',
    recorder: 'test/contract/recorder.ts',
  };
  await build({ ...bundleOptions, absWorkingDir: projectRoot, entryPoints, outdir });
  return path.join(outdir, 'service.js');
}
