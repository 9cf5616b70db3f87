/** Commits a second on a branch with logical replication, compared with one without. */
import { measureCommits } from './commits.ts';
import type { Result } from './result.ts';

export const measure = async (): Promise<readonly Result[]> =>
  measureCommits({
    what: 'replication',
    rounds: 5,
    projects: { ours: { settings: { enable_logical_replication: true } }, baseline: {} },
    baseline: 'without logical replication',
    goal: 0.9,
    note: () => 'no program follows them',
  });
