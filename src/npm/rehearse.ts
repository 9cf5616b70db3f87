/** `npx hosted-postgres rehearse`: runs a command on a throw-away branch, and reports what it does to others and to the data. */
import type { BranchOrigin, CopySource } from '../api/records/pointInTime.ts';
import { isAbandonedCopy, ownMaker } from '../rehearsal/abandonedCopies.ts';
import type { BranchCopy } from '../rehearsal/branchCopy.ts';
import { copySettings } from '../rehearsal/copySettings.ts';
import { rehearse } from '../rehearsal/rehearse.ts';
import { DEFAULT_LONGEST_LOCK } from '../rehearsal/report.ts';
import { ENGLISH_TEXTS, plainReportText } from '../rehearsal/text/terminalReport.ts';
import { loadMigrationSteps, type MigrationToRehearse } from '../rehearsal/migrationSteps.ts';
import type { ServiceApi, Branch } from './api.ts';
import { findBranch } from './findBranch.ts';
import { writeGitHubComment } from './githubComment.ts';
import { reportToGitHub, githubJobSummary, warningAnnotation } from './githubReport.ts';

const EXIT_CODES = { safe: 0, dangerous: 3, failed: 1 } as const;

export type RehearsedBranch = Branch & BranchCopy;

export interface RehearsalOptions extends MigrationToRehearse {
  /** The project of an account; undefined for all projects of the local service. */
  readonly projectId?: string | undefined;
  /** The name or id of the branch; undefined for the default branch of the only project. */
  readonly from: string | undefined;
  /** The name of the dump that was restored as that branch. */
  readonly dump?: string | undefined;
  readonly longestLock: number | undefined;
  readonly json: boolean;
  /** The token for a comment on the pull request; undefined for no comment. */
  readonly token?: string | undefined;
  /** Runs a command on the branch. @returns its exit code */
  run(this: void, command: string, branch: RehearsedBranch): Promise<number>;
}

/** Prints the report. @returns the exit code @throws {StartError} `usage` for a branch that is unknown, or one of several */
export async function rehearseCommand(
  api: ServiceApi,
  {
    projectId,
    from,
    longestLock = DEFAULT_LONGEST_LOCK,
    json,
    run,
    token,
    dump,
    ...migration
  }: RehearsalOptions,
): Promise<number> {
  const parent = await findBranch(api, { projectId, named: from, option: '--from' });
  // In an account, branches can be those of programs on other machines, and it isn't known whether these still run.
  if (projectId === undefined) await deleteAbandoned(api, parent);
  const rehearser = {
    copyBranch: async (source?: CopySource) =>
      copyBranch(api, parent, { source, isBilled: projectId !== undefined }),
    origin: async (branch: Branch) => api.findOrigin(branch),
    isUnchangedSince:
      projectId === undefined
        ? async (origin: BranchOrigin) => api.isUnchangedSince(parent.project_id, origin)
        : undefined,
    startRehearsal: async (branch: Branch) => api.startRehearsal(branch),
    rehearsal: async (branch: Branch) => api.readRehearsal(branch),
    schema: async (branch: Branch, database: string) => api.readSchema(branch, database),
    // This waits until the data is deleted, because the service ends before it would delete the data by itself.
    delete: async (branch: Branch) => api.deleteWithData(branch),
  };
  const write = (text: string) => void process.stderr.write(text);
  const steps = await loadMigrationSteps<RehearsedBranch>(migration, { run, write });
  const found = await rehearse<RehearsedBranch>(rehearser, steps, { longestLock });
  // Only this rehearsal uses the service that has the branch of a dump.
  const report = dump === undefined ? found : { ...found, isComparedWithLater: false };
  const heading = `Rehearsed on a copy of ${dump ?? parent.name}`;
  const summary = githubJobSummary(heading, report);
  const sentences = ENGLISH_TEXTS.verdictSentences(report);
  const text = json
    ? JSON.stringify({ ...report, sentences }, undefined, 2)
    : `${heading}.\n${plainReportText(report)}`;
  process.stdout.write(`${text}\n`);
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } = process.env;
  if (GITHUB_ACTIONS === 'true') process.stderr.write(reportToGitHub(report, summary, GITHUB_STEP_SUMMARY));
  if (token !== undefined) {
    const problem = await writeGitHubComment(
      process.env,
      token,
      JSON.stringify([dump, from, migration]),
      summary,
    );
    if (problem !== undefined) process.stderr.write(warningAnnotation(`There is no comment: ${problem}`));
  }
  return EXIT_CODES[report.verdict];
}

/**
 * Deletes the branches of rehearsals that were killed. Errors don't matter: another rehearsal may delete them, and they expire in any
 * case.
 */
async function deleteAbandoned(api: ServiceApi, { project_id: projectId }: Branch): Promise<void> {
  for (const branch of await api.listBranches(projectId))
    if (await isAbandonedCopy(branch)) await api.deleteWithData(branch).catch(() => undefined);
}

async function copyBranch(
  api: ServiceApi,
  parent: Branch,
  { isBilled, source }: { readonly isBilled: boolean; readonly source: CopySource | undefined },
): Promise<RehearsedBranch> {
  const { name, lifetime } = copySettings({ isBilled });
  const branch = await api.createBranch(parent.project_id, {
    name,
    parent: source?.branchId ?? parent.id,
    lsn: source?.lsn,
    maker: await ownMaker(),
    lifetime,
  });
  if (branch === undefined) throw new Error(`There is a branch ${name} already`);
  if (!isBilled) return branch;
  try {
    const sharedRoles = await api.renewPasswords(branch);
    return { ...branch, url: (await api.findUrl(branch)) ?? branch.url, sharedRoles };
  } catch (error) {
    await api.deleteWithData(branch);
    throw error;
  }
}
