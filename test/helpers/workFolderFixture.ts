import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { createGitRunner } from '../../src/base/git/runGit.ts';
import { tlsParameters, withTlsParameters } from '../../src/api/addresses/databaseUrl.ts';
import { getVariable, changeOfVariable } from '../../src/extension/envFile/dotEnv.ts';
import { branchMapWriter, type BranchMapWriter } from '../../src/extension/gitBranch/branchMap.ts';
import type { KnownBranch } from '../../src/extension/gitBranch/knownHosts.ts';
import { readUserFile } from '../../src/base/files.ts';
import type { ReplacedVariable } from '../../src/extension/gitBranch/formerTls.ts';
import type { BranchUrlDependencies } from '../../src/extension/gitBranch/findBranchUrl.ts';
import type { EnvVariable } from '../../src/extension/envFile/envVariable.ts';
import { WorkFolder } from '../../src/extension/gitBranch/workFolder.ts';
import { until } from '../workbench/until.ts';
import { atEndOfTest } from './atEndOfTest.ts';
import { createRepository, type GitRepository } from './gitRepository.ts';
import { computeRecord } from './scriptedService.ts';
import type { BranchRef } from '../../src/extension/account/refs.ts';

const runGit = createGitRunner(() => 'git');
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

async function readVariable(folder: string, folders: readonly string[]) {
  const { path: file, bytes, problem } = await readUserFile(path.join(folder, '.env'), folders);
  const text = bytes?.toString() ?? '';
  return { path: file, text, value: getVariable(text, 'DATABASE_URL'), problem };
}

/** A folder whose hosts are named after their branches, until the end of the test. */
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
  readonly env: EnvVariable & { isTrusted: boolean };
  readonly knownHosts = {
    isEmpty: false,
    get: (host: string) => (host.startsWith('unknown') ? undefined : known(`br-${host.split('.')[0]}`)),
    find: ({ branchId }: BranchRef) => known(branchId),
    refresh: async () => {},
    remember: async () => {},
    // All hosts are of the same service.
    withFormerTls: async ({ value }: ReplacedVariable, url: string) =>
      withTlsParameters(url, tlsParameters(value)),
  };
  findPassword = async (_branchId: string): Promise<string | undefined> => 'new';
  readonly #file: string;

  constructor(repository = createRepository(), clock: Clock = systemClock) {
    this.repository = repository;
    this.#file = path.join(repository.folder, '.env');
    const env: EnvVariable & { isTrusted: boolean } = {
      file: '.env',
      name: 'DATABASE_URL',
      isTrusted: true,
      read: async () => {
        const { problem, ...read } = await readVariable(repository.folder, [repository.folder]);
        return { ...read, file: problem ?? (read.value === undefined ? 'none' : 'writable') };
      },
      readIn: readVariable,
      replace: async ([{ before, after }]) => {
        if (this.writeError !== undefined) throw this.writeError;
        if (this.value !== before) return undefined;
        this.write(after);
        this.switched.push(`br-${new URL(after).hostname.split('.')[0]}`);
        return { undo: async () => {} };
      },
    };
    this.env = env;
    this.folder = new WorkFolder(repository.folder, env, {
      ...this.model(),
      runGit,
      clock,
      notices: {
        ask: (_work, gitBranch, reason) =>
          this.canAsk && this.asked.push(reason === 'unmapped' ? gitBranch : `${gitBranch} ${reason}`) > 0,
        showSwitch: () => {},
      },
      log: { error: (_activity, error) => void this.errors.push(error) },
    });
    atEndOfTest(() => this.folder.dispose());
  }

  /** Each branch has a compute, whose host has its name. */
  model(): BranchUrlDependencies {
    const findCredentials = async (_projectId: string, { branchId }: { readonly branchId: string }) => {
      const password = await this.findPassword(branchId);
      return password === undefined ? undefined : { password };
    };
    const { signal } = new AbortController();
    const connectionOf = (accountId: string) => ({
      accountId,
      signal,
      client: async () => ({ findCredentials }),
    });
    const connection = () => (this.account === undefined ? undefined : connectionOf(this.account));
    const load = async () => undefined;
    const computes = {
      get: (branchId: string) => [
        computeRecord(`ep-${branchId}`, { branch_id: branchId, host: `${branchId.slice(3)}.example.com` }),
      ],
    };
    const inventory = {
      loadComputes: load,
      refreshComputes: load,
      project: () => undefined,
      branches: { ensureLoaded: load, refresh: load, get: () => undefined },
      computesOf: () => ({ branches: () => computes }),
    };
    const session = Object.defineProperty({}, 'connection', { get: connection });
    return { session, inventory, knownHosts: this.knownHosts } as unknown as BranchUrlDependencies;
  }

  get value(): string | undefined {
    return existsSync(this.#file) ? getVariable(readFileSync(this.#file, 'utf8'), 'DATABASE_URL') : undefined;
  }

  get decision() {
    return this.folder.state.decision;
  }

  write(value: string): void {
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '';
    const { start, end, text: inserted } = changeOfVariable(text, 'DATABASE_URL', value);
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
