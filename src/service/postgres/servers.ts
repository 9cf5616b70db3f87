/** Starts the server of a compute: a primary on its branch's data, a read replica on its own copy. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { EngineError, type ComputeSpec } from '../core/computeEngine.ts';
import { writePrivateFile } from './privateFiles.ts';
import { writeSize } from './autoscaler.ts';
import { freePorts } from './freePorts.ts';
import type { BranchData } from './branchData.ts';
import { endServer } from './orphans.ts';
import { Postmaster } from './postmaster.ts';
import { runProgram } from './program.ts';
import type { ServerAddress } from './serverAddress.ts';
import { configurationFile, fixedArguments, settingsLines, userSettings } from './settings.ts';
import type { Storage } from './storage.ts';
import type { TemplateOptions } from './template.ts';

export interface ServerTools extends TemplateOptions {
  readonly branches: BranchData;
}

export interface Launch {
  readonly compute: ComputeSpec;
  readonly dataDir: string;
  readonly address: ServerAddress;
  readonly onLine: (line: string) => void;
  /** Settings of the service's for this start alone: in the file, and (as they win) on the command line. */
  readonly inFile?: ReadonlyMap<string, string>;
  readonly onCommandLine?: ReadonlyMap<string, string | number>;
}

/** Processes of a server that was killed may hold its memory for a moment after it. Milliseconds. */
const LEFTOVER_LIMIT = 10_000;
const LEFTOVER_PAUSE = 100;
const LEFTOVER = /lock file ".*" already exists|pre-existing shared memory block/;

/**
 * Where a server listens, by the name of what it serves: a primary by its branch, since read replicas look for it there; a
 * replica by its compute. The same at every call.
 */
export async function addressOf(storage: Storage, name: string): Promise<ServerAddress> {
  if (process.platform !== 'win32') return { kind: 'socket', folder: storage.socketFolder(name) };
  // Node knows no Unix sockets on Windows.
  const port =
    storage.loopbackPorts.get(name) ?? (await freePorts(new Set(storage.loopbackPorts.values()))).port;
  storage.loopbackPorts.set(name, port);
  return { kind: 'loopback', port };
}

/** Starts a server on a data directory. @throws {EngineError} with Postgres's own reason */
export async function launch(tools: ServerTools, start: Launch): Promise<Postmaster> {
  const settings = new Map([...userSettings(start.compute.pgSettings), ...(start.inFile ?? [])]);
  writePrivateFile(path.join(start.dataDir, 'postgresql.conf'), configurationFile(settings));
  writeSize(start.dataDir, start.compute.minCu);
  const options = {
    ...tools,
    dataDir: start.dataDir,
    address: start.address,
    args: fixedArguments(start.compute, start.address, start.onCommandLine),
    onLine: start.onLine,
  };
  for (const until = performance.now() + LEFTOVER_LIMIT; ;) {
    try {
      return await Postmaster.start(options);
    } catch (error) {
      if (!(error instanceof EngineError) || !LEFTOVER.test(error.message) || performance.now() > until)
        throw error;
      await endServer(start.dataDir);
      await new Promise((resolve) => setTimeout(resolve, LEFTOVER_PAUSE));
    }
  }
}

/**
 * Has Postgres itself read a compute's settings, without starting a server.
 * @throws {EngineError} with Postgres's own message for the first it refuses
 */
export async function checkSettings(tools: ServerTools, compute: ComputeSpec): Promise<void> {
  const settings = userSettings(compute.pgSettings);
  if (settings.size === 0) return;
  await tools.branches.inTurn(compute.branchId, async () => {
    const dataDir = await tools.branches.ensure(compute.branchId);
    const file = path.join(tools.storage.root, `settings-${compute.id}.conf`);
    writePrivateFile(file, settingsLines(settings));
    const args = ['-D', dataDir, '-C', 'server_version', `--config-file=${file}`];
    const address: ServerAddress = { kind: 'socket', folder: '' };
    try {
      await runProgram(tools.binaries.postgres, [...args, ...fixedArguments(compute, address)], {
        cwd: tools.storage.root,
      });
    } finally {
      rmSync(file, { force: true });
    }
  });
}
