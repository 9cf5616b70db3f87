import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getVariable, changeOfVariable } from '../../../../src/extension/envFile/dotEnv.ts';
import { parseDatabaseUrl } from '../../../../src/api/addresses/databaseUrl.ts';
import type { WorkFolder } from '../../../../src/extension/gitBranch/workFolder.ts';
import type { GitRepository } from '../../../helpers/gitRepository.ts';
import { until } from '../../../workbench/until.ts';

const VARIABLE = 'DATABASE_URL';

/** A folder with a checked-out branch, and the windows that are open on it. */
export class Worktree {
  readonly name: string;
  readonly repository: GitRepository;
  readonly windows: readonly WorkFolder[];
  readonly #file: string;

  constructor(name: string, repository: GitRepository, open: (worktree: Worktree) => WorkFolder) {
    this.name = name;
    this.repository = repository;
    this.#file = path.join(repository.folder, '.env');
    this.windows = [open(this), open(this)];
  }

  get file(): string {
    return this.#file;
  }

  get text(): string {
    return existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '';
  }

  get value(): string | undefined {
    return getVariable(this.text, VARIABLE);
  }

  get host(): string | undefined {
    return parseDatabaseUrl(this.value ?? '')?.host;
  }

  get isTracked(): boolean {
    return this.repository.git('ls-files', '.env') !== '';
  }

  write(value: string): void {
    const text = existsSync(this.#file) ? this.text : '# Settings\n';
    const { start, end, text: inserted } = changeOfVariable(text, VARIABLE, value);
    writeFileSync(this.#file, text.slice(0, start) + inserted + text.slice(end));
  }

  /** Reads the state from `git status`. */
  gitStatus(): { readonly branch: string | undefined; readonly pause: string | undefined } {
    const status = this.repository.git('status');
    const branch = this.repository.git('branch', '--show-current').trim();
    const pauses = [
      ['rebase in progress|currently rebasing|currently editing a commit', 'rebase'],
      ['currently bisecting', 'bisect'],
      ['have unmerged paths|still merging', 'merge'],
      ['cherry-picking', 'cherryPick'],
    ] as const;
    const pause = pauses.find(([text]) => new RegExp(text).test(status))?.[1];
    return { branch: branch === '' ? undefined : branch, pause };
  }

  /** Waits until each window shows the expected decision. */
  async settle(what: string, isExpected: (said: string) => boolean): Promise<void> {
    const said = () =>
      this.windows.map(({ state: { decision } }) =>
        [decision.kind, ...('reason' in decision ? [decision.reason] : [])].join(' '),
      );
    const describe = async () =>
      `${what}; the windows say ${said().join(' and ')} on ${this.windows.map(({ state }) => state.git.branch).join(' and ')}, the file has ${this.host}`;
    await until(describe, async () => said().every(isExpected));
  }
}
