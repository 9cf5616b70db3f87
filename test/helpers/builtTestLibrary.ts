/** Bundles `hosted-postgres/test` next to the service, as in the npm package. */
import path from 'node:path';
import { build } from 'esbuild';
import { testBundleOptions } from '../../src/npm/library/bundleOptions.ts';
import { bundleOptions } from '../../src/service/bundleOptions.ts';
import { projectRoot } from '../workbench/folders.ts';
import { builtService } from './builtService.ts';

let built: Promise<string> | undefined;

/** Returns the library's file, which exists until the tests end. */
export const builtTestLibrary = (): Promise<string> => (built ??= buildLibrary());

async function buildLibrary(): Promise<string> {
  const outdir = path.dirname(await builtService());
  await build({ ...bundleOptions, ...testBundleOptions, absWorkingDir: projectRoot, outdir });
  return path.join(outdir, 'test.cjs');
}
