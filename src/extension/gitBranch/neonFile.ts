/**
 * `.neon`, the file of the public service's command line. It contains the folder's project, the current branch, and the branch
 * of each git branch. The extension reads it, and updates it if it exists.
 */
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { readUserFile } from '../../base/files.ts';
import { replaceFile } from '../../base/replaceFile.ts';

export const NEON_FILE = '.neon';

interface NeonFile {
  readonly path: string;
  readonly text: string;
  readonly projectId: unknown;
  /** Whether a git hook of the public service's command line switches the branch. */
  readonly isFollowed: boolean;
  /** The name of the database branch for a git branch. */
  readonly branchOf: (gitBranch: string) => unknown;
}

/** Finds the file as the public service's command line does: searches the folder and those above it, but not the home folder. */
export async function findNeonFile(folder: string, home = homedir()): Promise<NeonFile | undefined> {
  const parent = path.dirname(folder);
  if (folder === home || folder === parent) return undefined;
  const file = path.join(folder, NEON_FILE);
  const { bytes, problem } = await readUserFile(file, [folder]);
  // An unreadable file still hides those above it.
  if (bytes === undefined) return problem === undefined ? await findNeonFile(parent, home) : undefined;
  const text = bytes.toString();
  try {
    const { projectId, git } = fieldsOf(JSON.parse(text));
    const { map, follow } = fieldsOf(git);
    const branchOf = (gitBranch: string) => fieldsOf(map)[gitBranch];
    return { path: file, text, projectId, isFollowed: follow === true, branchOf };
  } catch {
    return undefined;
  }
}

/** Whether a git hook of the public service's command line switches the branch. The hook looks only in the root of the worktree. */
export async function isFollowedByNeon(worktree: string): Promise<boolean> {
  const found = await findNeonFile(worktree);
  return found?.isFollowed === true && path.dirname(found.path) === worktree;
}

interface NeonChange {
  readonly projectId: string;
  /** The name of the database branch. */
  readonly branch: string;
  /** The git branch to map to the database branch, if the file has a map. */
  readonly gitBranch?: string | undefined;
  /** Whether the database branch becomes the current one. */
  readonly isCheckedOut: boolean;
}

/**
 * Changes the text of the file, and keeps other fields and the indentation.
 * @returns the new text; undefined if nothing changes
 */
function withBranch(text: string, change: NeonChange): string | undefined {
  const before: unknown = JSON.parse(text);
  if (fieldsOf(before)['projectId'] !== change.projectId) return undefined;
  const after: Record<string, unknown> = { ...fieldsOf(before) };
  if (change.isCheckedOut) {
    after['branch'] = change.branch;
    // `branchId` is the former name of `branch`.
    delete after['branchId'];
  }
  const git = fieldsOf(after['git']);
  if (change.gitBranch !== undefined && typeof git['map'] === 'object' && git['map'] !== null)
    after['git'] = { ...git, map: { ...git['map'], [change.gitBranch]: change.branch } };
  if (isDeepStrictEqual(before, after)) return undefined;
  const indent = /^[\t ]+/m.exec(text)?.[0];
  const changed = JSON.stringify(after, undefined, indent) + text.slice(text.trimEnd().length);
  return text.includes('\r\n') ? changed.replace(/\r?\n/g, '\r\n') : changed;
}

/**
 * Updates the file of the public command line, but not a link, or a file outside the worktree, such as that of the main worktree.
 */
export async function updateNeonFile(folder: string, worktree: string, change: NeonChange): Promise<void> {
  const found = await findNeonFile(folder);
  if (found === undefined || path.relative(worktree, found.path).startsWith('..')) return;
  const text = withBranch(found.text, change);
  if (text !== undefined && (await lstat(found.path)).isFile()) await replaceFile(found.path, text);
}
