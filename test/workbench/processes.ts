// Which processes run and who started them, without `ps` where /proc is there: a bare container has none.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { statFields } from '../../src/base/processIdentity.ts';

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** Process group. Children stay in it unless they are started detached. */
  readonly group: number;
}

/** The process that started `pid`, or adopted it; undefined where that is not known without running `ps`. */
export async function parentOf(pid: number): Promise<number | undefined> {
  return (await readStat(pid))?.parent;
}

/** Every running process of the machine; those that ended and only await collection are left out. */
export async function listProcesses(): Promise<RunningProcess[]> {
  return process.platform === 'linux' ? listFromProc() : listFromPs();
}

/**
 * Those of `roots` that still run, everything below them, and the members of the process groups they lead.
 * Ask again with the answer added to `roots`: what lost its parent in between is then still remembered.
 */
export async function familyOf(roots: Iterable<number>): Promise<number[]> {
  const all = await listProcesses();
  const family = new Set(roots);
  const groups = new Set(family);
  // Ids are reused, so a parent may have a higher id than its child: repeat until nothing is new.
  for (let size = -1; size !== family.size;) {
    size = family.size;
    for (const each of all) {
      if (family.has(each.parent) || groups.has(each.group)) family.add(each.pid);
    }
  }
  return all.map((each) => each.pid).filter((pid) => family.has(pid));
}

async function listFromProc(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => readStat(Number(pid))));
  return found.filter((each) => each !== undefined);
}

async function readStat(pid: number): Promise<RunningProcess | undefined> {
  // A process may end between the listing and the read.
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [state, parent, group] = statFields(line);
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
