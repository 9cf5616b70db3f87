// Runs the VS Code server with its web workbench on 127.0.0.1, for a browser of the tests or of the user.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openFrontDoor } from './frontDoor.ts';
import { plainEnvironment, startGuarded, type Guarded } from './guarded.ts';
import { installWebWorkbench } from './install.ts';
import { writeMachineSettings } from './machineSettings.ts';

export interface ServerOptions {
  /** Settings, state and logs of the server. A second start with the same folder finds them again. */
  readonly dataFolder: string;
  /** Where extensions are installed; by default a folder inside `dataFolder`. */
  readonly extensionsFolder?: string;
  /** The extensions that VS Code brings; by default all of them. */
  readonly builtinExtensionsFolder?: string;
  /** Port wanted; another free one is taken when it is in use. 0, the default: any free one. */
  readonly port?: number;
  /** Lets a page load extensions and suites by its address, and keeps toasts away. For tests. */
  readonly testDriver?: boolean;
  /** Added to the environment of the server and so of every extension host. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether folders are trusted only once the user says so, as on the desktop; by default all of them are. */
  readonly asksForTrust?: boolean;
  /** Machine settings on top of the calm ones. Settings of scope `application` have no effect here. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface WorkbenchServer {
  /** `127.0.0.1:PORT`, which is also the authority of the server's `vscode-remote:` addresses. */
  readonly authority: string;
  /** Leads the process group of the server, its extension hosts and their children. */
  readonly pid: number;
  /** Resolves when the server has ended, asked or not. */
  readonly exited: Promise<number>;
  /** The address that opens `folder`, with the token that the server asks for. */
  address(folder: string, parameters?: Readonly<Record<string, string>>): string;
  /** Ends the server and everything below it; the end of this process, however it comes, does the same. */
  stop(): Promise<void>;
}

/** Installs a packaged extension as a user would, before a server is started on the same data folder. */
export async function installExtension(dataFolder: string, vsix: string): Promise<void> {
  const args = ['--server-data-dir', dataFolder, '--extensions-dir', path.join(dataFolder, 'extensions')];
  await promisify(execFile)(process.execPath, [await serverProgram(), ...args, '--install-extension', vsix], {
    env: plainEnvironment(),
  });
}

/** Installs the workbench when it is missing and starts its server; resolves when it accepts connections. */
export async function startServer(options: ServerOptions): Promise<WorkbenchServer> {
  await mkdir(options.dataFolder, { recursive: true });
  await writeMachineSettings(options.dataFolder, options.settings ?? {});
  const token = await keptSecret(options.dataFolder, 'token');
  const keyHalf = Buffer.from(await keptSecret(options.dataFolder, 'key-half'), 'hex');

  // A folder of its own for sockets: their paths are limited to some hundred characters, so the data folder
  // will not do, and VS Code leaves its own where it made them.
  const socketFolder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-'));
  const socket = socketPath(socketFolder);
  const program = await spawnServer(options, socket, socketFolder);
  const stopServer = async (): Promise<void> => {
    await program.stop();
    await rm(socketFolder, { recursive: true, force: true });
  };
  try {
    await accepting(socket, program);
  } catch (error) {
    await stopServer();
    throw error;
  }

  const door = await openFrontDoor({ socket, port: options.port ?? 0, token, keyHalf });
  const authority = `127.0.0.1:${door.port}`;
  return {
    authority,
    pid: program.pid,
    exited: program.exited,
    address: (folder, parameters = {}) =>
      `http://${authority}/?${new URLSearchParams({ tkn: token, folder, ...parameters }).toString()}`,
    async stop() {
      await door.close();
      await stopServer();
    },
  };
}

function serverArguments(options: ServerOptions, socket: string): string[] {
  const { dataFolder } = options;
  return [
    '--socket-path',
    socket,
    '--connection-token-file',
    path.join(dataFolder, 'token'),
    '--accept-server-license-terms',
    '--server-data-dir',
    dataFolder,
    '--extensions-dir',
    options.extensionsFolder ?? path.join(dataFolder, 'extensions'),
    ...(options.builtinExtensionsFolder === undefined
      ? []
      : ['--builtin-extensions-dir', options.builtinExtensionsFolder]),
    '--disable-telemetry',
    ...(options.asksForTrust === true ? [] : ['--disable-workspace-trust']),
    ...(options.testDriver === true ? ['--enable-smoke-test-driver'] : []),
  ];
}

async function spawnServer(options: ServerOptions, socket: string, socketFolder: string): Promise<Guarded> {
  const log = await open(path.join(options.dataFolder, 'server.log'), 'w');
  try {
    return startGuarded(process.execPath, [await serverProgram(), ...serverArguments(options, socket)], {
      env: { ...plainEnvironment(), XDG_RUNTIME_DIR: socketFolder, ...options.env },
      output: log.fd,
    });
  } finally {
    await log.close();
  }
}

async function serverProgram(): Promise<string> {
  return path.join(await installWebWorkbench(), 'out', 'server-main.js');
}

async function accepting(socket: string, program: Guarded): Promise<void> {
  while (program.running) {
    if (await connects(socket)) return;
    await delay(20);
  }
  throw new Error(
    'The VS Code server ended before it accepted connections; see server.log in its data folder',
  );
}

async function connects(socket: string): Promise<boolean> {
  const connection = net.connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch {
    return false; // Not listening yet.
  } finally {
    connection.destroy();
  }
}

function socketPath(folder: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\${path.basename(folder)}`;
  return path.join(folder, 'server.sock');
}

/** 32 random bytes in hexadecimal, made at the first call and kept in the folder for the next start. */
async function keptSecret(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name);
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return kept;
  const secret = randomBytes(32).toString('hex');
  await writeFile(file, secret, { mode: 0o600 });
  return secret;
}
