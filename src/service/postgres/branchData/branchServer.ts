/** The service's own work on the data of a branch that no compute may be running on. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { changeableSettings } from '../server/changeableSettings.ts';
import { startInternalServer } from '../server/launchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { runProgram } from '../server/runProgram.ts';
import { LOOPBACK } from '../server/serverAddress.ts';
import { serviceSettings, settingArguments, settingsLines } from '../server/settings.ts';
import { writePrivateFile } from '../storage/privateFiles.ts';
import type { ServerDependencies } from './branchData.ts';
import { keptWalSettings } from '../history/history.ts';

/**
 * Runs the service's own work on a branch with its running primary, or else with a server for such work only, so that it wakes
 * no compute. Clients can't reach that server, because it listens in the private socket folder and no compute's address leads
 * to it. The caller holds or shares the branch's lock. @throws {EngineError}
 */
export async function withBranchServer<T>(
  deps: ServerDependencies,
  branchId: string,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  deps.shutdownSignal.throwIfAborted();
  const primary = deps.branches.primary(branchId);
  if (primary !== undefined) return work(primary);
  const { ownServer } = deps.branches.lock(branchId);
  return ownServer.use(async () => startPrivateServer(deps, branchId), work);
}

async function startPrivateServer(deps: ServerDependencies, branchId: string): Promise<Postmaster> {
  const dataDir = await deps.branches.ensureDataDir(branchId);
  // Recovery and prepared transactions may need as much as the last primary had.
  const settings = deps.branches.standbySettings(branchId);
  return startInternalServer(deps, {
    id: branchId,
    dataDir,
    name: branchId,
    settings: { ...settings, ...keptWalSettings(deps.storage.branch(branchId)) },
  });
}

/**
 * Checks a compute's settings before they are saved: Postgres reads them without starting a server.
 * @throws {EngineError} with the reason for a setting that users can't change, or Postgres's message for an invalid value
 */
export async function checkSettings(deps: ServerDependencies, compute: ComputeSpec): Promise<void> {
  const settings = await changeableSettings(deps, compute);
  if (settings.size === 0) return;
  await deps.branches.lock(compute.branchId).shared(async () => {
    const dataDir = await deps.branches.ensureDataDir(compute.branchId);
    const file = path.join(deps.storage.root, `settings-${compute.id}.conf`);
    writePrivateFile(file, settingsLines(settings));
    const service = serviceSettings(compute, { host: LOOPBACK, port: 1 }, deps.extensionSettings);
    // With `-C` as the first argument, Postgres on Windows reads the settings for an administrator, too.
    const args = [
      '-C',
      'server_version',
      '-D',
      dataDir,
      `--config-file=${file}`,
      ...settingArguments(service),
    ];
    try {
      await runProgram(deps.binaries.postgres, args, { cwd: deps.storage.root });
    } finally {
      rmSync(file, { force: true });
    }
  });
}
