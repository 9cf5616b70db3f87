/** Commits a second on a branch with history, compared with one without. Copies for the history are made at the same time. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { storageOf } from '../../test/helpers/branchCalls.ts';
import { measureCommits } from './commits.ts';
import type { Result } from './result.ts';

/** So many that bases are due several times. */
const ROUNDS = 7;

export const measure = async (): Promise<readonly Result[]> =>
  measureCommits({
    what: 'history',
    rounds: ROUNDS,
    projects: { ours: {}, baseline: { history_retention_seconds: 0 } },
    baseline: 'without history',
    goal: 0.95,
    note: (service) =>
      `at the end, there were ${readdirSync(path.join(storageOf(service), 'bases')).length} bases`,
  });
