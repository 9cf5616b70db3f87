/** What can happen to a repository and its databases. A step may fail if git refuses it. */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import type { GitRepository } from '../../../helpers/gitRepository.ts';
import type { GitWorld } from './gitWorld.ts';
import type { Worktree } from './worktree.ts';

type Step = (worktree: Worktree, git: GitRepository['git']) => unknown;

/** Steps that are chosen this many times as often as the others. */
export const WEIGHTS: Readonly<Record<string, number>> = {
  switch: 8,
  switchMapped: 12,
  switchFast: 6,
  createMapped: 8,
  abort: 8,
  editBack: 5,
  untrack: 5,
  startService: 5,
};

export const gitSteps = (world: GitWorld): Readonly<Record<string, Step>> => ({
  switch: (_, git) => git('switch', world.branch()),
  switchMapped: (_, git) => git('switch', world.freeBranch()),
  switchBackTwice: (_, git) => {
    git('switch', '-');
    git('switch', '-');
  },
  switchFast: (_, git) => {
    for (let times = 0; times < 5; times += 1) {
      try {
        git('switch', world.branch());
      } catch {
        // Another worktree has it.
      }
    }
  },
  tag: (_, git) => git('switch', '--detach', 'v1'),
  rebase: ({ repository }) => {
    commit(repository);
    commit(repository);
    execFileSync(
      'git',
      ['-C', repository.folder, '-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '-i', 'HEAD~2'],
      { stdio: 'pipe' },
    );
  },
  continue: (_, git) => git('rebase', '--continue'),
  abort: (_, git) => {
    for (const what of ['rebase', 'merge', 'cherry-pick']) tryGit(git, what, '--abort');
    tryGit(git, 'bisect', 'reset');
  },
  bisect: (_, git) => git('bisect', 'start', 'HEAD', 'v1'),
  merge: ({ repository }, git) => {
    commit(repository, 'same.txt');
    git('merge', world.branch());
  },
  cherryPick: (_, git) => git('cherry-pick', world.branch()),
  create: (_, git) => {
    git('switch', '--create', `feature/${world.nextNumber()}`);
  },
  createMapped: async (_, git) => {
    const name = `feature/${world.nextNumber()}`;
    git('switch', '--create', name);
    if (world.isServiceUp) await world.setMapped(name, await world.createDatabase(name));
  },
  map: async (worktree) => {
    const { branch } = worktree.gitStatus();
    if (branch === undefined || branch === 'main' || world.mapped.has(branch) || !world.isServiceUp) return;
    if (world.random() < 0.2) await world.setMapped(branch, 'none');
    else await world.setMapped(branch, await world.createDatabase(branch));
  },
  rename: (_, git) => {
    const from = world.branch();
    const to = `renamed-${world.nextNumber()}`;
    if (from === 'main') return;
    git('branch', '-m', from, to);
    world.move(from, to);
  },
  delete: (_, git) => {
    const name = world.branch();
    if (name === 'main') return;
    git('branch', '-D', name);
    world.move(name, undefined);
  },
  recreate: (_, git) => {
    const name = world.branch();
    if (name === 'main') return;
    git('branch', '-D', name);
    world.move(name, undefined);
    git('switch', '--create', name);
  },
  worktree: () => world.replaceWorktree(),
  edit: (worktree) => worktree.write('postgresql://me:secret@elsewhere.example.com/app'),
  editBack: (worktree) => worktree.write(world.firstUrl),
  track: async (_, git) => {
    git('add', '--force', '.env');
    await world.refreshWindows();
  },
  untrack: async (_, git) => {
    git('rm', '--cached', '--quiet', '.env');
    await world.refreshWindows();
  },
  stopService: () => world.setService(false),
  startService: () => world.setService(true),
  deleteDatabase: () => world.endDatabase('delete'),
  expireDatabase: () => world.endDatabase('expire'),
});

function commit(repository: GitRepository, name = `${Math.random()}.txt`): void {
  appendFileSync(path.join(repository.folder, name), `${Math.random()}\n`);
  repository.git('add', name);
  repository.git('commit', '--quiet', '--message=Change', '--only', name);
}

function tryGit(git: GitRepository['git'], ...args: string[]): void {
  try {
    git(...args);
  } catch {
    // There is nothing to do.
  }
}
