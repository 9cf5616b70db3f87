/**
 * Maps git branches to database branches, in the repository's git configuration. So all worktrees and windows share the
 * map, and git locks it and renames or deletes an entry with its git branch. It contains no secret.
 */
import { isBranchId, isId } from '../../api/records/ids.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';
import { gitErrorMessage, type GitResult, type RunGit } from '../../base/git/runGit.ts';

/** A database branch that was created for a git branch, which may be gone. */
export interface CreatedBranch extends BranchRef {
  readonly gitBranch: string;
}

/** Which database branch belongs to which git branch of a repository. */
export interface BranchMap {
  /** Whether env files follow checkouts. */
  readonly isFollowed: boolean;
  /** The database branches by git branch. `none` means that the user chose no database branch. */
  readonly branches: ReadonlyMap<string, BranchRef | 'none'>;
  /** The parent of new branches, if the user chose one. */
  readonly parent: BranchRef | undefined;
  readonly created: readonly CreatedBranch[];
  /** Whether the file system ignores case, so that HEAD may have a branch's name in another case. */
  readonly ignoresCase: boolean;
}

const SECTION = 'hostedPostgres';
const KEYS = { follow: `${SECTION}.follow`, parent: `${SECTION}.parent`, created: `${SECTION}.created` };
const branchKey = (gitBranch: string): string => `branch.${gitBranch}.${SECTION}`;

/** Whether the map contains the database branch, including as the parent or for a deleted git branch. */
export const isInMap = ({ branches, parent, created }: BranchMap, ref: BranchRef): boolean =>
  [...branches.values(), parent, ...created].some((mapped) => isSameBranch(ref, mapped));

type CaseRule = Pick<BranchMap, 'ignoresCase'>;

export const isSameGitBranch = ({ ignoresCase }: CaseRule, one: string, other: string): boolean =>
  one === other || (ignoresCase && one.toLowerCase() === other.toLowerCase());

/** Returns the name that the map has for a git branch, or else the given one. */
export function gitBranchNameInMap(map: BranchMap, gitBranch: string): string {
  if (map.branches.has(gitBranch)) return gitBranch;
  return [...map.branches.keys()].find((name) => isSameGitBranch(map, name, gitBranch)) ?? gitBranch;
}

/**
 * Reads the map, and skips invalid entries.
 * @param folder a folder in the repository.
 * @throws {Error} with git's message if git rejects it
 */
export async function readBranchMap(runGit: RunGit, folder: string): Promise<BranchMap> {
  const pattern = `^(branch\\..*\\.${SECTION}|${SECTION}\\..*|core\\.ignorecase)$`.toLowerCase();
  const entries = await readConfig(runGit, folder, pattern);
  const branches = new Map<string, BranchRef | 'none'>();
  const created: CreatedBranch[] = [];
  let parent: BranchRef | undefined;
  for (const [key, value] of entries) {
    const [ref, gitBranch] = parseRef(value);
    const mapped = /^branch\.(.*)\.hostedpostgres$/s.exec(key)?.[1];
    if (mapped !== undefined && (ref !== undefined || value === 'none')) branches.set(mapped, ref ?? 'none');
    if (key === KEYS.parent.toLowerCase()) parent = ref;
    if (key === KEYS.created.toLowerCase() && ref !== undefined && gitBranch !== undefined)
      created.push({ ...ref, gitBranch });
  }
  return { ...(await readSwitches(runGit, folder, entries)), branches, parent, created };
}

type ConfigEntry = readonly [key: string, value: string];

/** @throws {Error} with git's message if git rejects it */
async function readConfig(
  runGit: RunGit,
  folder: string,
  pattern: string,
  ...options: readonly string[]
): Promise<readonly ConfigEntry[]> {
  const result = await runGit(folder, 'config', '--local', ...options, '-z', '--get-regexp', pattern);
  // Git exits with 1 if the configuration has no such entry.
  if (result.code !== 0 && result.code !== 1) throw await explainFailure(runGit, folder, result);
  return result.stdout.split('\0').map((entry) => {
    const key = entry.replace(/\n.*$/s, '');
    return [key, entry.slice(key.length + 1)];
  });
}

/** Asks git which entries are true, because it has several words for that, and an entry without a value is true, too. */
async function readSwitches(runGit: RunGit, folder: string, entries: readonly ConfigEntry[]) {
  const keys = { isFollowed: KEYS.follow.toLowerCase(), ignoresCase: 'core.ignorecase' };
  const isSet = entries.some(([key]) => Object.values(keys).includes(key));
  const pattern = `^(${Object.values(keys).join('|')})$`.replaceAll('.', String.raw`\.`);
  const read = isSet ? await readConfig(runGit, folder, pattern, '--type=bool') : [];
  const isOn = (name: string) => read.findLast(([key]) => key === name)?.[1] === 'true';
  return { isFollowed: isOn(keys.isFollowed), ignoresCase: isOn(keys.ignoresCase) };
}

/** Reads the map. If git fails, for example because the repository has another owner, the given map is kept. */
export async function readBranchMapOrKeep(
  runGit: RunGit,
  folder: string,
  before: BranchMap,
): Promise<{ readonly map: BranchMap; readonly gitProblem: string | undefined }> {
  try {
    return { map: await readBranchMap(runGit, folder), gitProblem: undefined };
  } catch (error) {
    return { map: before, gitProblem: error instanceof Error ? error.message : String(error) };
  }
}

export const EMPTY_MAP: BranchMap = {
  isFollowed: false,
  branches: new Map(),
  parent: undefined,
  created: [],
  ignoresCase: false,
};

/** Asks git why it rejects the repository. `git config` doesn't say why git rejects a repository, such as one of another user. */
async function explainFailure(runGit: RunGit, folder: string, failed: GitResult): Promise<Error> {
  const repository = await runGit(folder, 'rev-parse', '--git-dir');
  return new Error(gitErrorMessage(repository.code === 0 ? failed : repository));
}

/**
 * Returns functions that write the map.
 * @throws {Error} from each of them, with git's message if git rejects the change
 */
export function branchMapWriter(runGit: RunGit, folder: string) {
  const changeConfig = async (...args: readonly string[]): Promise<void> => {
    const result = await runGit(folder, 'config', '--local', ...args);
    if (result.code !== 0) throw await explainFailure(runGit, folder, result);
  };
  return {
    setFollowed: (isFollowed: boolean) => changeConfig(KEYS.follow, String(isFollowed)),
    setParent: (ref: BranchRef) => changeConfig(KEYS.parent, formatRef(ref)),
    setBranch: (gitBranch: string, ref: BranchRef | 'none') =>
      changeConfig(branchKey(gitBranch), ref === 'none' ? ref : formatRef(ref)),
    addCreated: (created: CreatedBranch) => changeConfig('--add', KEYS.created, formatCreated(created)),
    /** Removes a created branch that was deleted. */
    removeCreated: (created: CreatedBranch) =>
      changeConfig(
        '--unset-all',
        KEYS.created,
        `^${formatCreated(created).replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}$`,
      ),
  };
}
/** The functions that write a repository's map. */
export type BranchMapWriter = ReturnType<typeof branchMapWriter>;

/** Returns the parts of a reference, separated by spaces. The account is encoded, because its name may contain spaces. */
const formatRef = ({ account, projectId, branchId }: BranchRef): string =>
  [encodeURI(account.toWellFormed()), projectId, branchId].join(' ');

const formatCreated = (created: CreatedBranch): string => `${formatRef(created)} ${created.gitBranch}`;

/** Returns the reference, if it is valid, and the text after it. */
function parseRef(value: string): [ref: BranchRef | undefined, rest: string | undefined] {
  const [, account = '', projectId, branchId, rest] = /^(\S+) (\S+) (\S+)(?: (.+))?$/s.exec(value) ?? [];
  if (!isId(projectId) || !isBranchId(branchId)) return [undefined, rest];
  try {
    return [{ account: decodeURI(account), projectId, branchId }, rest];
  } catch {
    return [undefined, rest]; // The value was edited manually.
  }
}
