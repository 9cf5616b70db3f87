import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { gitRunner } from '../../src/base/git/runGit.ts';
import { getVariable, setVariable } from '../../src/extension/envFile/dotEnv.ts';
import { branchMapWriter, type BranchMapWriter } from '../../src/extension/gitBranch/branchMap.ts';
import type { KnownBranch } from '../../src/extension/gitBranch/knownHosts.ts';
import type { Target } from '../../src/extension/gitBranch/findTarget.ts';
import { readVariable } from '../../src/extension/gitBranch/envVariable.ts';
import { WorkFolder, type WorkFolderDependencies } from '../../src/extension/gitBranch/workFolder.ts';
import { until } from '../workbench/until.ts';
import { createRepository, type GitRepository } from './gitRepository.ts';
import type { BranchRef } from '../../src/extension/account/refs.ts';

const runGit = gitRunner(() => 'git');
export const ref = (name: string): BranchRef => ({
  account: 'local',
  projectId: 'shop-1',
  branchId: `br-${name}`,
});
export const url = (name: string, password = 'x') =>
  `postgresql://app:${password}@${name}.example.com/app?a=1`;

function known(branchId: string): KnownBranch {
  const name = branchId.slice('br-'.length);
  return {
    ...ref(name),
    projectName: 'Shop',
    branchName: name,
    isPooled: false,
    isProtected: false,
    isDeleted: false,
  };
}

/** Returns one on `one`, with the git branches `one`, `two` and `new`, of which the first two have a database branch. */
export async function prepareRepository(): Promise<GitRepository> {
  const repository = createRepository();
  const map = branchMapWriter(runGit, repository.folder);
  for (const name of ['one', 'two', 'new']) repository.git('branch', name);
  for (const name of ['one', 'two']) await map.setBranch(name, ref(name));
  repository.git('switch', '--quiet', 'one');
  return repository;
}

/** A folder whose hosts are named after their branches. */
export class WorkFolderFixture {
  readonly repository: GitRepository;
  readonly folder: WorkFolder;
  readonly asked: string[] = [];
  readonly switched: string[] = [];
  readonly errors: unknown[] = [];
  /** What a switch fails with. */
  writeError: Error | undefined;
  account: string | undefined = 'local';
  canAsk = true;
  isTrusted = true;
  readonly knownHosts = {
    isEmpty: false,
    get: (host: string) => (host.startsWith('unknown') ? undefined : known(`br-${host.split('.')[0]}`)),
    find: ({ branchId }: BranchRef) => known(branchId),
  };
  findTarget = async (target: BranchRef): Promise<Target> => ({
    value: url(target.branchId.slice(3), 'new'),
  });
  readonly #file: string;

  constructor(repository = createRepository(), clock: Clock = systemClock) {
    this.repository = repository;
    this.#file = path.join(repository.folder, '.env');
    const deps: Omit<WorkFolderDependencies, 'knownHosts'> = {
      runGit,
      clock,
      isTrusted: () => this.isTrusted,
      account: () => this.account,
      readEnv: async () => {
        const { problem, ...read } = await readVariable(this.#file, 'DATABASE_URL', [repository.folder]);
        return { ...read, file: problem ?? (read.value === undefined ? 'none' : 'writable') };
      },
      readOther: (folder, folders) => readVariable(path.join(folder, '.env'), 'DATABASE_URL', folders),
      switchEnv: async ({ branchId }, before, after) => {
        if (this.writeError !== undefined) throw this.writeError;
        if (this.value !== before) return false;
        this.write(after);
        this.switched.push(branchId);
        return true;
      },
      findTarget: (target) => this.findTarget(target),
      ask: (gitBranch, reason) =>
        this.canAsk && this.asked.push(reason === 'unmapped' ? gitBranch : `${gitBranch} ${reason}`) > 0,
      onError: (error) => void this.errors.push(error),
    };
    const all = { ...deps, knownHosts: this.knownHosts } as unknown as WorkFolderDependencies;
    this.folder = new WorkFolder(repository.folder, all);
  }

  get value(): string | undefined {
    return existsSync(this.#file) ? getVariable(readFileSync(this.#file, 'utf8'), 'DATABASE_URL') : undefined;
  }

  get decision() {
    return this.folder.state.decision;
  }

  write(value: string): void {
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '';
    const { start, end, text: inserted } = setVariable(text, 'DATABASE_URL', value);
    writeFileSync(this.#file, text.slice(0, start) + inserted + text.slice(end));
  }

  get map(): BranchMapWriter {
    return branchMapWriter(runGit, this.repository.folder);
  }

  checkOut(branch: string): void {
    this.repository.git('switch', '--quiet', branch);
  }

  async becomes(name: string): Promise<void> {
    await until(`the URL of ${name}`, async () => this.value?.includes(`@${name}.`));
  }
}
