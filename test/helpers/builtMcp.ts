/** Bundles the MCP program once for all tests of a process. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { mcpOptions } from '../../src/mcp/bundleOptions.ts';
import { bundleOptions, programBanner } from '../../src/service/bundleOptions.ts';
import { projectRoot } from '../workbench/folders.ts';

let built: Promise<string> | undefined;

/** Returns the extension's folder, with `dist/mcp.js`, which exists until the tests end. */
export const builtMcp = (): Promise<string> => (built ??= buildMcp());

async function buildMcp(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-mcp-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(path.join(projectRoot, 'package.json'), path.join(folder, 'package.json'));
  const outdir = path.join(folder, 'dist');
  await build({ ...bundleOptions, banner: programBanner, ...mcpOptions, absWorkingDir: projectRoot, outdir });
  return folder;
}
