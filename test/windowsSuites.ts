// What of the local service's suites runs on Windows.
import path from 'node:path';
import type { Step } from './steps.ts';
import { projectRoot } from './workbench/folders.ts';

/** Suites of the local service that Windows can't run, because they need this of Unix. All others start Postgres there. */
const unixServiceSuites: Readonly<Record<string, readonly string[]>> = {
  signals: [
    'fromSource',
    'npm',
    'program',
    'testBranches',
    'postgres/data/killedPostmaster',
    'postgres/network/stockClients',
    'postgres/process/hangingServer',
    'postgres/process/orphans',
    'postgres/process/stopping',
  ],
  'file modes and links': [
    'agents/withoutWindow',
    'postgres/config/programs',
    'postgres/extensions/moreExtensions',
    'privileges/privileges',
    'privileges/storageFolder',
  ],
  'names of files': ['postgres/data/folderNames'],
  'a shell': ['createBranchAction', 'postgres/process/administrator'],
  PgBouncer: ['postgres/network/pooledSessions', 'postgres/network/pooler'],
  mounts: ['postgres/linuxMachines', 'postgres/trouble'],
};

export function withoutUnix(step: Step): Step {
  const isIn = (names: readonly string[]) =>
    names.filter((name) => step.command.includes(suite('service', name)));
  const left = Object.entries(unixServiceSuites).map(([what, names]) => [what, isIn(names)] as const);
  const files = new Set(left.flatMap(([, names]) => names.map((name) => suite('service', name))));
  const reasons = left
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what} (${names.length})`);
  return {
    ...step,
    command: step.command.filter((part) => !files.has(part)),
    leftOut: `${files.size} suites need ${reasons.join(', ')}`,
  };
}

/** @returns the file of a suite */
export function suite(folder: string, name: string): string {
  return path.join(projectRoot, 'test', folder, path.normalize(`${name}.test.ts`));
}
