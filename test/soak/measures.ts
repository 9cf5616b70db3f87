/** What the processes of a soak use at one moment, read from /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { processTree } from '../workbench/processes.ts';

/** Names of the product's processes, by what their command line contains. */
const KINDS = {
  service: /service\.js/,
  npx: /hosted-postgres\/dist\/main\.js/,
  mcp: /mcp\.js/,
  window: /--type=extensionHost/,
} as const;
type Kind = keyof typeof KINDS;

export interface Measures {
  /** Resident memory of the product's processes. MiB. */
  readonly memory: Readonly<Record<Kind, number>>;
  /** Open descriptors of the product's processes. */
  readonly descriptors: number;
  /** Processes of Postgres. */
  readonly servers: number;
  /** Ports on which any of these processes listens. */
  readonly ports: number;
  /** Files in the data directories. */
  readonly files: number;
}

/** @param roots processes whose descendants count @param folders data directories */
export async function measure(roots: readonly number[], folders: readonly string[]): Promise<Measures> {
  const memory = { service: 0, npx: 0, mcp: 0, window: 0 };
  let [descriptors, servers] = [0, 0];
  const listening = listeningSockets();
  let ports = 0;
  for (const pid of await processTree(roots)) {
    const command = readOf(pid, 'cmdline').replaceAll('\0', ' ');
    const kind = (Object.keys(KINDS) as Kind[]).find((each) => KINDS[each].test(command));
    const isServer = /\/bin\/postgres -D|^postgres: /.test(command);
    if (kind === undefined && !isServer) continue;
    const open = descriptorsOf(pid);
    ports += open.filter((target) => listening.has(target)).length;
    if (isServer) servers += 1;
    if (kind === undefined) continue;
    descriptors += open.length;
    memory[kind] += Number(/VmRSS:\s+(\d+)/.exec(readOf(pid, 'status'))?.[1] ?? 0) / 1024;
  }
  return { memory, descriptors, servers, ports, files: folders.reduce((sum, each) => sum + count(each), 0) };
}

/** The header of the table of {@link line}. */
export const HEADER =
  'minute   service      npx      mcp   window  descriptors  servers  ports  files  actions  failures';

export function line(minute: number, measures: Measures, actions: number, failures: number): string {
  const { memory, descriptors, servers, ports, files } = measures;
  const megabytes = Object.values(memory).map((each) => `${each.toFixed(0)} MB`.padStart(9));
  const counts = [
    [descriptors, 13],
    [servers, 9],
    [ports, 7],
    [files, 7],
    [actions, 9],
    [failures, 10],
  ] as const;
  const rest = counts.map(([value, width]) => String(value).padStart(width));
  return `${minute.toFixed(1).padStart(6)} ${megabytes.join('')}${rest.join('')}`;
}

/** Returns what was higher in the last third than in the third before, beyond what use varies by. */
export function growthIn(all: readonly Measures[]): string[] {
  const third = Math.floor(all.length / 3);
  const [before, after] = [all.slice(-2 * third, -third), all.slice(-third)];
  const problems: string[] = [];
  const check = (what: string, read: (each: Measures) => number, slack: number) => {
    const [lowBefore, lowAfter] = [before, after].map((each) => Math.min(...each.map(read)));
    if (lowBefore === undefined || lowAfter === undefined || lowAfter <= lowBefore * 1.1 + slack) return;
    problems.push(`${what}: at least ${lowBefore.toFixed(0)}, then at least ${lowAfter.toFixed(0)}`);
  };
  for (const kind of Object.keys(KINDS) as Kind[]) check(`MB of ${kind}`, (each) => each.memory[kind], 15);
  check('descriptors', (each) => each.descriptors, 5);
  check('servers', (each) => each.servers, 9);
  check('ports', (each) => each.ports, 2);
  // A branch has about a thousand.
  check('files', (each) => each.files, 1500);
  return problems;
}

/** What `readlink` returns for the descriptors of listening sockets. */
function listeningSockets(): Set<string> {
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    quietly(() => readFileSync(`/proc/net/${name}`, 'utf8'), '')
      .split('\n')
      .slice(1),
  );
  const fields = lines.map((each) => each.trim().split(/\s+/));
  return new Set(fields.filter((each) => each[3] === '0A').map((each) => `socket:[${each[9]}]`));
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return quietly(() => readdirSync(folder), []).map((name) =>
    quietly(() => readlinkSync(path.join(folder, name)), ''),
  );
}

const readOf = (pid: number, name: string): string =>
  quietly(() => readFileSync(`/proc/${pid}/${name}`, 'utf8'), '');

const count = (folder: string): number =>
  quietly(() => readdirSync(folder, { withFileTypes: true }), []).reduce(
    (sum, entry) => sum + 1 + (entry.isDirectory() ? count(path.join(folder, entry.name)) : 0),
    0,
  );

/** A process may end, and a file go, while it is read. */
function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
