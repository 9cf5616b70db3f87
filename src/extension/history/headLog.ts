/**
 * What git did in a worktree, from the reflog of its HEAD. Git keeps the reflog anyway, so commits and checkouts need no markers,
 * and those from before the extension was installed are known, too. Repositories with reftable have no such file.
 */
import path from 'node:path';
import { readLastLines } from '../../base/files.ts';
import type { Repository } from '../../base/git/repository.ts';

/** Something that git did in a worktree. */
export interface GitEvent {
  readonly kind: 'commit' | 'checkout' | 'reset' | 'merge';
  /** The beginning of the second of the event, in milliseconds since 1970. */
  readonly time: number;
  /** The abbreviated id of the commit that HEAD had afterwards. */
  readonly commit: string;
  /** The subject of the commit, or what was checked out, merged or reset to. */
  readonly text: string;
  /** The branch that was checked out after the event. */
  readonly gitBranch: string | undefined;
}

/** Returns what git did, the newest first, as far as the end of the reflog has it. @param gitBranch what is checked out now */
export async function readHeadLog(
  repository: Repository,
  gitBranch: string | undefined,
): Promise<readonly GitEvent[]> {
  return parseHeadLog((await readLog(repository))?.lines ?? [], gitBranch);
}

const readLog = async ({ gitDir }: Pick<Repository, 'gitDir'>) =>
  await readLastLines(path.join(gitDir, 'logs', 'HEAD'), gitDir);

/**
 * Reads every commit that HEAD had since a time (milliseconds since 1970), also during a rebase.
 * @returns undefined if the reflog doesn't go back that far
 */
export async function readCommitsSince(
  repository: Pick<Repository, 'gitDir'>,
  time: number,
): Promise<ReadonlySet<string> | undefined> {
  const log = await readLog(repository);
  const commits = new Set<string>();
  let isFirst = false;
  for (const line of log?.lines.toReversed() ?? []) {
    const [, before = '', commit = '', seconds] = LINE.exec(line) ?? [];
    if (seconds === undefined) continue;
    commits.add(commit);
    // The event may have happened at the end of its second.
    if ((Number(seconds) + 1) * 1000 <= time) return commits;
    isFirst = /^0+$/.test(before);
    if (!isFirst) commits.add(before);
  }
  return isFirst && log?.isCut === false ? commits : undefined;
}

/** Reads the commits that HEAD had before the last checkouts and resets, up to the last event of another kind. */
export async function readLeftCommits(repository: Pick<Repository, 'gitDir'>): Promise<ReadonlySet<string>> {
  const commits = new Set<string>();
  for (const line of (await readLog(repository))?.lines.toReversed() ?? []) {
    const [, before = '', , seconds, message = ''] = LINE.exec(line) ?? [];
    if (seconds === undefined && line.trim() === '') continue;
    if (!/^(?:checkout|reset): /.test(message) || /^0+$/.test(before)) break;
    commits.add(before);
  }
  return commits;
}

const LINE = /^([0-9a-f]+) ([0-9a-f]+) .*> (\d{1,11}) [+-]\d{4}\t(.*)$/;
const ABBREVIATED = 7;

const MESSAGES: readonly (readonly [GitEvent['kind'], RegExp])[] = [
  ['commit', /^commit(?: \([a-z]+\))?: (.*)$/],
  ['checkout', /^checkout: moving from \S+ to (\S+)$/],
  ['reset', /^reset: moving to (.+)$/],
  ['merge', /^(?:merge|pull)(?: (.*?))?: .*$/],
];

function parseHeadLog(lines: readonly string[], gitBranch: string | undefined): readonly GitEvent[] {
  let current = gitBranch;
  return lines.toReversed().flatMap((line): readonly GitEvent[] => {
    const [, , commit = '', seconds, message = ''] = LINE.exec(line) ?? [];
    if (seconds === undefined) return [];
    const after = current;
    current = /^checkout: moving from (\S+) to /.exec(message)?.[1] ?? current;
    for (const [kind, pattern] of MESSAGES) {
      const found = pattern.exec(message);
      const event = {
        kind,
        time: Number(seconds) * 1000,
        commit: commit.slice(0, ABBREVIATED),
        text: found?.[1] ?? '',
        gitBranch: after,
      };
      if (found !== null) return [event];
    }
    return [];
  });
}
