// What of the suites with real services runs on Windows.
import path from 'node:path';
import type { Step } from './steps.ts';
import { projectRoot } from './workbench/folders.ts';

/** Suites that Windows can't run, because they need this of Unix. All others start Postgres there. */
const unixSuites: Readonly<Record<string, readonly string[]>> = {
  signals: [
    'api/strangers',
    'api/transport/network',
    'extension/account/keyring',
    'extension/agents/agents',
    'extension/gitBranch/checkouts',
    'extension/history/migrations',
    'extension/inventory/windows',
    'extension/signIn/localService',
    'extension/window/log',
    'service/fromSource',
    'npm/npm',
    'service/program',
    'npm/library/testBranches',
    'service/postgres/branchData/killedPostmaster',
    'tools/stockClients',
    'service/postgres/server/hangingServer',
    'service/postgres/server/orphans',
    'service/postgres/server/stopping',
  ],
  'file modes and links': [
    'mcp/withoutWindow',
    'service/postgres/server/programs',
    'service/postgres/extensions/moreExtensions',
    'service/privileges/privileges',
    'service/privileges/storageFolder',
  ],
  'names of files': ['service/postgres/storage/folderNames'],
  'a shell': [
    'extension/database/rehearsals/runCommand',
    'tools/createBranchAction',
    'service/postgres/server/administrator',
  ],
  PgBouncer: ['service/postgres/network/pooledSessions', 'service/postgres/network/pooler'],
  mounts: [
    'service/postgres/chaos',
    'service/postgres/containers',
    'service/postgres/linuxMachines',
    'service/postgres/trouble',
    'service/postgres/withoutPostgres',
  ],
  'other accounts': ['npm/accounts'],
  'a list of processes': ['service/postgres/branchKills'],
};

export function withoutUnix(step: Step): Step {
  const isIn = (names: readonly string[]) =>
    names.filter((name) => step.command.includes(suite('real', name)));
  const left = Object.entries(unixSuites).map(([what, names]) => [what, isIn(names)] as const);
  const files = new Set(left.flatMap(([, names]) => names.map((name) => suite('real', name))));
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
