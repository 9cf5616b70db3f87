/** The same Postgres binary with the same arguments as a branch's server, on a copy of its data, started directly. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, chown, mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface PlainPostgres {
  /** Where clients connect: the folder of its Unix socket, and the port that names the socket. */
  readonly host: string;
  readonly port: number;
  /** Resolves when the server accepts connections, with a function that stops it. */
  start(): Promise<() => Promise<void>>;
}

/**
 * @param dataDir the data directory of a server that has run
 * @param copy a copy in a folder for it alone, below a folder that the server's account can read
 * @param settings more settings for the command line
 */
export async function plainPostgres(
  dataDir: string,
  copy: string,
  settings: readonly string[] = [],
): Promise<PlainPostgres> {
  const options = await readFile(path.join(dataDir, 'postmaster.opts'), 'utf8');
  const [program = '', ...rest] = splitOptions(options);
  const { uid, gid } = await stat(dataDir);
  const folder = path.dirname(copy);
  // Socket paths have a low limit, so it is not in the temporary folder of the bench.
  const socketFolder = await mkdtemp('/tmp/hpb-');
  if (socketFolders.size === 0) process.once('exit', removeSocketFolders);
  socketFolders.add(socketFolder);
  for (const created of [folder, copy]) await chmod(created, 0o700);
  for (const created of [socketFolder, ...(await allBelow(folder))]) await chown(created, uid, gid);
  const args = rest.map((argument) => {
    if (argument === dataDir) return copy;
    return argument.replace(/^(unix_socket_directories=).*/, `$1${socketFolder}`);
  });
  const port = args.find((argument) => argument.startsWith('port='))?.slice('port='.length);
  return {
    host: socketFolder,
    port: Number(port ?? 5432),
    start: () => startServer(program, [...args, ...settings], { uid, gid, cwd: folder }),
  };
}

const socketFolders = new Set<string>();

const removeSocketFolders = (): void => {
  for (const folder of socketFolders) rmSync(folder, { recursive: true, force: true });
};

async function allBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return [folder, ...entries.map((entry) => path.join(folder, entry))];
}

/** Splits the content of postmaster.opts: `program "argument" "argument"…`. */
const splitOptions = (text: string): string[] => {
  const [program = '', ...rest] = text.trim().split(' "');
  return [program, ...rest.map((argument) => argument.replace(/"$/, ''))];
};

async function startServer(
  program: string,
  args: readonly string[],
  options: { readonly uid: number; readonly gid: number; readonly cwd: string },
): Promise<() => Promise<void>> {
  const account = process.getuid?.() === 0 ? { uid: options.uid, gid: options.gid } : {};
  const child = spawn(program, args, {
    ...account,
    cwd: options.cwd,
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      output.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`Postgres ended: ${output.join('\n')}`)));
  });
  return async () => {
    child.kill('SIGINT');
    await ended;
  };
}
