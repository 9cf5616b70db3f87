/**
 * A Postgres run by hand, to measure the service's against: the same binary with the same arguments, on a copy of a
 * branch's data, waiting for nothing but the server's own word that it is ready.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface Handmade {
  /** The folder of its socket, of port 5432. */
  readonly socketFolder: string;
  start(): Promise<() => Promise<void>>;
  remove(): Promise<void>;
}

/**
 * @param dataDir of a server that ran once and does not run now
 * @param extra further arguments, which win over the ones it ran with
 */
export async function copyByHand(dataDir: string, extra: readonly string[] = []): Promise<Handmade> {
  const options = await readFile(path.join(dataDir, 'postmaster.opts'), 'utf8');
  const [program = '', ...rest] = splitOptions(options);
  const { uid, gid } = await stat(dataDir);
  // Beside the original: where the server's account gets to.
  const folder = path.join(path.dirname(dataDir), 'by-hand');
  const socketFolder = path.join(folder, 's');
  const copy = path.join(folder, 'data');
  await cp(dataDir, copy, { recursive: true, preserveTimestamps: true });
  await mkdir(socketFolder);
  for (const made of [folder, socketFolder, copy]) await chmod(made, 0o700);
  for (const made of await allBelow(folder)) await chown(made, uid, gid);
  const args = rest.map((argument) => {
    if (argument === dataDir) return copy;
    return argument.replace(/^(unix_socket_directories=).*/, `$1${socketFolder}`);
  });
  return {
    socketFolder,
    start: () => startServer(program, [...args, ...extra], { uid, gid, cwd: folder }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function allBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return [folder, ...entries.map((entry) => path.join(folder, entry))];
}

/** Postgres writes its command line down as `program "argument" "argument"…`. */
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
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`Postgres ended: ${said.join('\n')}`)));
  });
  return async () => {
    child.kill('SIGINT');
    await ended;
  };
}
