// Runs the VS Code server with its web workbench on 127.0.0.1, for the tests' browser or the user's.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startReverseProxy } from './reverseProxy.ts';
import { plainEnvironment, startSupervised, type SupervisedProcess } from './supervisedProcess.ts';
import { installWebWorkbench } from './install.ts';

export interface ServerOptions {
  /** Settings, state and logs of the server. A second start with the same folder reuses them. */
  readonly dataFolder: string;
  /** The built-in extensions. By default, all that VS Code ships. */
  readonly builtinExtensionsFolder?: string;
  /** Preferred port. If it is in use, another free port is taken. 0, the default, means any free port. */
  readonly port?: number;
  /** For tests: lets a page's URL name extensions and suites to load, and hides toasts. */
  readonly testDriver?: boolean;
  /** Added to the environment of the server, and so of every extension host. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether VS Code asks before it trusts a folder, as on the desktop. By default, all folders are trusted. */
  readonly asksForTrust?: boolean;
  /** Added to the machine settings. Settings with the scope `application` have no effect here. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface WorkbenchServer {
  /** `127.0.0.1:PORT`, which is also the authority of the server's `vscode-remote:` URIs. */
  readonly authority: string;
  /** Leads the process group of the server, its extension hosts and their children. */
  readonly pid: number;
  /** Resolves when the server has ended, for any reason. */
  readonly exited: Promise<number>;
  /** Returns the address that opens `folder`. It includes the token that the server requires. */
  address(folder: string, parameters?: Readonly<Record<string, string>>): string;
  /** Ends the server and its descendants. They also end when this process ends, for any reason. */
  stop(): Promise<void>;
}

/** Installs a packaged extension as a user would. Call it before a server starts on the same data folder. */
export async function installExtension(dataFolder: string, vsix: string): Promise<void> {
  const args = ['--server-data-dir', dataFolder, '--extensions-dir', path.join(dataFolder, 'extensions')];
  await promisify(execFile)(process.execPath, [await serverProgram(), ...args, '--install-extension', vsix], {
    env: plainEnvironment(),
  });
}

/** Installs the workbench if it is missing and starts its server. Resolves when the server accepts connections. */
export async function startServer(options: ServerOptions): Promise<WorkbenchServer> {
  await mkdir(options.dataFolder, { recursive: true });
  await writeMachineSettings(options.dataFolder, options.settings);
  const token = await persistentSecret(options.dataFolder, 'token');
  const keyHalf = Buffer.from(await persistentSecret(options.dataFolder, 'key-half'), 'hex');

  // Sockets go to a separate folder with a short name, because a socket path is limited to about 100 characters. VS Code
  // does not remove its sockets, so the folder is removed at the end.
  const socketFolder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-'));
  const socket = socketPath(socketFolder);
  const program = await spawnServer(options, socket, socketFolder);
  const stopServer = async (): Promise<void> => {
    await program.stop();
    await rm(socketFolder, { recursive: true, force: true });
  };
  try {
    await waitForConnection(socket, program);
  } catch (error) {
    await stopServer();
    throw error;
  }

  const proxy = await startReverseProxy({ socket, port: options.port ?? 0, token, keyHalf });
  const authority = `127.0.0.1:${proxy.port}`;
  return {
    authority,
    pid: program.pid,
    exited: program.exited,
    address: (folder, parameters = {}) =>
      `http://${authority}/?${new URLSearchParams({ tkn: token, folder, ...parameters }).toString()}`,
    async stop() {
      await proxy.close();
      await stopServer();
    },
  };
}

async function spawnServer(
  options: ServerOptions,
  socket: string,
  socketFolder: string,
): Promise<SupervisedProcess> {
  const { dataFolder, builtinExtensionsFolder: builtinExtensions } = options;
  const args = [
    `--socket-path=${socket}`,
    `--connection-token-file=${path.join(dataFolder, 'token')}`,
    `--server-data-dir=${dataFolder}`,
    `--extensions-dir=${path.join(dataFolder, 'extensions')}`,
    ...(builtinExtensions === undefined ? [] : [`--builtin-extensions-dir=${builtinExtensions}`]),
    '--accept-server-license-terms',
    '--disable-telemetry',
    ...(options.asksForTrust === true ? [] : ['--disable-workspace-trust']),
    ...(options.testDriver === true ? ['--enable-smoke-test-driver'] : []),
  ];
  const log = await open(path.join(dataFolder, 'server.log'), 'w');
  try {
    return startSupervised(process.execPath, [await serverProgram(), ...args], {
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

async function waitForConnection(socket: string, program: SupervisedProcess): Promise<void> {
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
    return false; // It isn't listening yet.
  } finally {
    connection.destroy();
  }
}

function socketPath(folder: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\${path.basename(folder)}`;
  return path.join(folder, 'server.sock');
}

/** Returns 32 random bytes in hexadecimal. Creates them at the first call and reuses them at the next start. */
async function persistentSecret(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name);
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  if (stored !== undefined) return stored;
  const secret = randomBytes(32).toString('hex');
  await writeFile(file, secret, { mode: 0o600 });
  return secret;
}

/** Turns off welcome pages, suggestions and animation. */
const quiet = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'chat.disableAIFeatures': true,
  'remote.autoForwardPorts': false,
  'extensions.ignoreRecommendations': true,
};

/** Writes the machine settings of this server. They override user settings. VS Code ignores those with the scope `application`. */
async function writeMachineSettings(dataFolder: string, more: ServerOptions['settings']): Promise<void> {
  const folder = path.join(dataFolder, 'data', 'Machine');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify({ ...quiet, ...more }, null, 2));
}
