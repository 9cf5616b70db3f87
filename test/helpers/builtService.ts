/**
 * Bundles the local service, and next to it `hosted-postgres/test`, as in the npm package. A start takes a fifth of the CPU time of a
 * start from the sources.
 */
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { testBundleOptions } from '../../src/npm/library/bundleOptions.ts';
import { bundleOptions, programBanner } from '../../src/service/bundleOptions.ts';
import { projectRoot } from '../workbench/folders.ts';
import { makeOnce } from './sharedFolder.ts';

/** A file in the folder of {@link builtService}: `node --import` loads it into the service. */
export const BUILT_RECORDER = 'recorder.js';

let built: Promise<string> | undefined;

/** Returns the bundle's file, which exists until the tests end. */
export const builtService = (): Promise<string> =>
  (built ??= makeOnce('service', buildService).then((folder) => path.join(folder, 'dist', 'service.js')));

async function buildService(folder: string): Promise<void> {
  // Also for tests that run it as another user.
  chmodSync(folder, 0o755);
  // Where the service looks for Postgres.
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const entryPoints = {
    service: 'src/service/main.ts',
    recorder: 'test/contract/recorder.ts',
  };
  await build({
    ...bundleOptions,
    banner: programBanner,
    absWorkingDir: projectRoot,
    entryPoints,
    outdir: path.join(folder, 'dist'),
  });
  const libraryOptions = { ...bundleOptions, ...testBundleOptions, absWorkingDir: projectRoot };
  await build({ ...libraryOptions, outdir: path.join(folder, 'dist') });
}
