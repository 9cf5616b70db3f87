/** Bundles the local service once for all tests of a run. The bundle starts three times as fast as the sources. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** In the folder of {@link builtService}: `node --require` loads it into the service. */
export const BUILT_RECORDER = 'recorder.cjs';

let built: Promise<string> | undefined;

/** Returns the bundle's file, which exists until the tests end. */
export const builtService = (): Promise<string> => (built ??= buildService());

async function buildService(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-built-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const source = (file: string) => path.join(ROOT, 'src/service', file);
  const entryPoints = {
    service: source('main.ts'),
    engineProcess: source('engineProcess/engineProcess.ts'),
    recorder: path.join(ROOT, 'test/contract/recorder.ts'),
  };
  const define = { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' };
  await build({
    entryPoints,
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    define,
    bundle: true,
    platform: 'node',
    target: 'node22',
    logLevel: 'silent',
  });
  return path.join(folder, 'service.cjs');
}
