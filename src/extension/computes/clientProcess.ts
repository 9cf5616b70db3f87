/**
 * Finds the program of this machine that has opened a connection to a local compute. This file is loaded only when a session is
 * named.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

export interface ClientProcess {
  /** The name of the program's file, such as `node`. Arguments are left out, because they may be secret. */
  readonly program: string;
  readonly pid: number;
}

/** A connection on loopback. */
interface Connection {
  readonly clientPort: number;
  /** The ports that the compute may have. */
  readonly serverPorts: readonly number[];
}

/**
 * Finds the process of a client by the port of its connection. Only processes of the same user can be seen, and none on Windows,
 * where it would take a second.
 * @returns undefined if the system doesn't say it. Never rejects
 */
export async function findClientProcess(
  connection: Connection,
  signal: AbortSignal,
): Promise<ClientProcess | undefined> {
  try {
    if (process.platform === 'linux') return await findInProc(connection, signal);
    return process.platform === 'darwin' ? await askLsof(connection, signal) : undefined;
  } catch {
    return undefined;
  }
}

async function findInProc(connection: Connection, signal: AbortSignal): Promise<ClientProcess | undefined> {
  const inode = await findInode(connection);
  if (inode === undefined) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (signal.aborted) return undefined;
    if (!(await hasOpen(pid, `socket:[${inode}]`))) continue;
    const file = await readlink(`/proc/${pid}/exe`);
    return { program: path.basename(file.replace(/ \(deleted\)$/, '')), pid: Number(pid) };
  }
  return undefined;
}

/** Finds the inode of the client's socket. That of a client that uses IPv6 is in the second table. */
async function findInode({ clientPort, serverPorts }: Connection): Promise<string | undefined> {
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/);
      if (hexPort(local) === clientPort && serverPorts.includes(hexPort(remote))) return inode;
    }
  }
  return undefined;
}

const hexPort = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

async function hasOpen(pid: string, file: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  // Reading fails if the process has ended, or belongs to another user.
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return files.includes(file);
}

async function askLsof(connection: Connection, signal: AbortSignal): Promise<ClientProcess | undefined> {
  const args = ['-nP', '+c0', `-iTCP:${connection.clientPort}`, '-sTCP:ESTABLISHED', '-Fpcn'];
  const { stdout } = await promisify(execFile)('/usr/sbin/lsof', args, { signal });
  return parseLsof(stdout, connection);
}

/** Reads the output of `lsof`. Each process has a line with its id and one with its name, and one for each of its connections. */
export function parseLsof(
  output: string,
  { clientPort, serverPorts }: Connection,
): ClientProcess | undefined {
  let found = { program: '', pid: 0 };
  for (const line of output.split('\n')) {
    const value = line.slice(1);
    if (line.startsWith('p')) found = { program: '', pid: Number(value) };
    else if (line.startsWith('c')) found = { ...found, program: value };
    else if (serverPorts.some((port) => line.endsWith(`:${clientPort}->127.0.0.1:${port}`))) return found;
  }
  return undefined;
}
