// Lists running processes and their parents. Reads /proc if it exists, because minimal containers have no `ps`.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseProcStat } from '../../src/base/processIdentity.ts';

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** Process group. Child processes stay in it unless they are started detached. */
  readonly group: number;
}

/** Returns every running process of the machine, without zombies. */
export async function listProcesses(): Promise<RunningProcess[]> {
  return process.platform === 'linux' ? listFromProc() : listFromPs();
}

/**
 * Returns the `roots` that still run, their descendants, and the members of the process groups they lead. To follow a
 * tree over time, add each result to `roots`: a process that loses its parent in between is then still included.
 */
export async function processTree(roots: Iterable<number>): Promise<number[]> {
  const all = await listProcesses();
  const tree = new Set(roots);
  const groups = new Set(tree);
  // Process ids are reused, so a parent may have a higher id than its child. Repeat until nothing is added.
  for (let size = -1; size !== tree.size;) {
    size = tree.size;
    for (const each of all) {
      if (tree.has(each.parent) || groups.has(each.group)) tree.add(each.pid);
    }
  }
  return all.map((each) => each.pid).filter((pid) => tree.has(pid));
}

async function listFromProc(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readStat(Number(pid))));
  return found.filter((each) => each !== undefined);
}

async function readStat(pid: number): Promise<RunningProcess | undefined> {
  // A process may end between the listing and the read.
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [state, parent, group] = parseProcStat(line);
  if (state === undefined || parent === undefined || group === undefined || state === 'Z') return undefined;
  return { pid, parent: Number(parent), group: Number(group) };
}

async function listFromPs(): Promise<RunningProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid=,state=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (pid === undefined || parent === undefined || group === undefined || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group) }];
  });
}
