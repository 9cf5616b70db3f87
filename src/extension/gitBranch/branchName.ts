import { createHash } from 'node:crypto';
import { MAX_NAME_LENGTH } from '../../api/rules/nameLength.ts';

/**
 * Returns the name of the database branch for a git branch, by the rule of the public service's command line, so that each
 * finds the other's branches.
 */
export function databaseBranchName(gitBranch: string): string {
  const segments = gitBranch.toLowerCase().split('/').map(safeSegment);
  const name = segments.filter((segment) => segment !== '').join('/');
  return withoutSeparator(name.slice(0, MAX_NAME_LENGTH)) || 'branch';
}

/** Returns a name for a git branch whose safe name is the same as another one's. */
export function distinctBranchName(gitBranch: string): string {
  const suffix = `-${createHash('sha256').update(gitBranch).digest('hex').slice(0, 4)}`;
  return withoutSeparator(databaseBranchName(gitBranch).slice(0, MAX_NAME_LENGTH - suffix.length)) + suffix;
}

const safeSegment = (segment: string): string => segment.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

const withoutSeparator = (name: string): string => name.replace(/[-/]+$/, '');
