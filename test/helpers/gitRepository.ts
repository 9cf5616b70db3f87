import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './localService.ts';

export interface GitRepository {
  readonly folder: string;
  /** Runs git and returns what it prints. @throws if it fails */
  git(...args: string[]): string;
  /** A repository that is used like this one, in another folder. */
  at(folder: string): GitRepository;
}

const IDENTITY = [
  'user.name=Test',
  'user.email=test@example.com',
  'commit.gpgSign=false',
  'core.editor=true',
];

/** A new repository with one commit on `main`. */
export const createRepository = (folder?: string): GitRepository =>
  copyRepository((original ??= createOriginal()), folder);

/** Starts no program, so tests copy a repository instead of making it again. */
export function copyRepository(
  { folder: from }: GitRepository,
  folder = path.join(realpathSync(temporaryFolder()), 'repository'),
): GitRepository {
  mkdirSync(folder, { recursive: true });
  cpSync(from, folder, { recursive: true });
  return repositoryAt(folder);
}

let original: GitRepository | undefined;

function createOriginal(): GitRepository {
  const repository = repositoryAt(temporaryFolder());
  repository.git('init', '--quiet', '--initial-branch=main', '--template=');
  repository.git('commit', '--quiet', '--allow-empty', '--message=First');
  return repository;
}

const repositoryAt = (folder: string): GitRepository => ({
  folder,
  git: (...args) => {
    const options = ['-C', folder, ...IDENTITY.flatMap((each) => ['-c', each])];
    return execFileSync('git', [...options, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  },
  at: repositoryAt,
});
