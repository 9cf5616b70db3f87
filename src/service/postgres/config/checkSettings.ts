/** Checks a compute's settings before they are saved. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import type { ServerTools } from '../data/branchData.ts';
import { writePrivateFile } from '../data/privateFiles.ts';
import type { ServerAddress } from '../network/serverAddress.ts';
import { runProgram } from '../process/runProgram.ts';
import { fixedArguments, settingsLines, userSettings } from './settings.ts';

/**
 * Lets Postgres read a compute's settings without starting a server.
 * @throws {EngineError} with Postgres's message for the first invalid setting
 */
export async function checkSettings(tools: ServerTools, compute: ComputeSpec): Promise<void> {
  const settings = userSettings(compute.pgSettings);
  if (settings.size === 0) return;
  await tools.branches.withLock(compute.branchId, async () => {
    const dataDir = await tools.branches.ensure(compute.branchId);
    const file = path.join(tools.storage.root, `settings-${compute.id}.conf`);
    writePrivateFile(file, settingsLines(settings));
    const args = ['-D', dataDir, '-C', 'server_version', `--config-file=${file}`];
    const address: ServerAddress = { folder: undefined, port: 1 };
    try {
      await runProgram(tools.binaries.postgres, [...args, ...fixedArguments(compute, { address })], {
        cwd: tools.storage.root,
      });
    } finally {
      rmSync(file, { force: true });
    }
  });
}
