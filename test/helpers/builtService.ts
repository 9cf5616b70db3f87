/**
 * Bundles the local service once for all tests of a process, in the parts that ship. A start takes a fifth of the CPU time
 * of a start from the sources.
 */
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { buildBundles, lazyBundles } from '../package/lazyBundles.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** In the folder of {@link builtService}: `node --require` loads it into the service. */
export const BUILT_RECORDER = 'recorder.js';

let built: Promise<string> | undefined;

/** Returns the bundle's file, which exists until the tests end. */
export const builtService = (): Promise<string> => (built ??= buildService());

async function buildService(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-built-'));
  // Also for tests that run it as another user.
  chmodSync(folder, 0o755);
  // Where the service looks for Postgres.
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const source = (file: string) => path.join(ROOT, 'src/service', file);
  const outdir = path.join(folder, 'dist');
  const shared: BuildOptions = {
    outdir,
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    supported: { 'dynamic-import': false },
    logLevel: 'silent',
  };
  const bundles = new Map([
    ['service', source('main.ts')],
    ['engineProcess', source('engineProcess/engineProcess.ts')],
  ]);
  const plugins = [lazyBundles(bundles)];
  await buildBundles(bundles, (name, entry) => ({ ...shared, plugins, entryPoints: { [name]: entry } }));
  const recorder = path.join(ROOT, 'test/contract/recorder.ts');
  await build({ ...shared, entryPoints: { recorder } });
  return path.join(outdir, 'service.js');
}
