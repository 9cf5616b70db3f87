/** `npx hosted-postgres rehearse`: runs a command on a throw-away branch, and reports what it does to others and to the data. */
import path from 'node:path';
import { isRunning, ownIdentity } from '../base/processIdentity.ts';
import { BILLED_LIFETIME, COPY_LIFETIME, rehearse } from '../rehearsal/rehearse.ts';
import { LONGEST_LOCK, textOf } from '../rehearsal/report.ts';
import { downCommandOf } from '../migrations/migrationTools.ts';
import { runLoadedFiles } from '../migrations/runSqlFiles.ts';
import { loadSqlFiles, type SqlFiles } from '../migrations/sqlFiles.ts';
import { StartError } from '../service/core/serviceErrors.ts';
import type { Api, Branch } from './api.ts';
import { reportToGitHub } from './githubReport.ts';

const PREFIX = 'rehearsal-';
const EXIT_CODES = { safe: 0, dangerous: 3, failed: 1 } as const;

export type RehearsedBranch = Branch & { readonly url: string };

export interface RehearsalOptions {
  /** The project of an account; undefined: all projects of the local service. */
  readonly projectId?: string | undefined;
  /** The name or id of the branch; undefined: the default one of the first project. */
  readonly from: string | undefined;
  readonly longestLock: number | undefined;
  readonly json: boolean;
  /** Takes all of the migration back. Undefined: the down step of its tool, if the tool is known. */
  readonly down: string | undefined;
  /** What migrates. Undefined: what applies the folder. */
  readonly command: string | undefined;
  /** The folder of SQL, whose files are named in the report. */
  readonly folder: string | undefined;
  /** Runs a command on the branch. @returns its exit code */
  run(this: void, command: string, branch: RehearsedBranch): Promise<number>;
}

/** Prints the report. @returns the exit code @throws {StartError} `usage` for an unknown branch */
export async function rehearseCommand(
  api: Api,
  { projectId, from, longestLock = LONGEST_LOCK, json, run, command: given, folder, down }: RehearsalOptions,
): Promise<number> {
  const parent = await findBranch(api, projectId, from);
  // The branches of an account can be those of programs on other machines.
  if (projectId === undefined) await deleteAbandoned(api, parent);
  const lifetime = projectId === undefined ? COPY_LIFETIME : BILLED_LIFETIME;
  const rehearser = {
    copyBranch: async () => copyBranch(api, parent, lifetime),
    startRehearsal: async (branch: Branch) => api.startRehearsal(branch),
    rehearsal: async (branch: Branch) => api.rehearsal(branch),
    schemaDiff: async (branch: Branch, database: string) => api.schemaDiff(branch, database),
    // The service, which would delete the data later, ends before.
    delete: async (branch: Branch) => api.deleteWithData(branch),
  };
  const sql = folder === undefined ? undefined : await loadSqlFiles(folder);
  // A tool itself applies only the files that are pending.
  const command = given ?? sql?.tool?.command;
  const tool = down === undefined && command !== undefined ? downCommandOf(command) : undefined;
  const back = down ?? tool?.command;
  const steps = {
    files: sql?.files.map((each) => ({ ...each, file: path.relative(folder ?? '', each.file) })),
    run: async (branch: RehearsedBranch) =>
      command === undefined ? runFolder(sql, branch) : run(command, branch),
    down:
      back === undefined ? undefined : { tool, run: async (branch: RehearsedBranch) => run(back, branch) },
  };
  const report = await rehearse<RehearsedBranch>(rehearser, steps, { longestLock });
  const heading = `Rehearsed on a copy of ${parent.name}`;
  const text = json ? JSON.stringify(report, undefined, 2) : `${heading}.\n${textOf(report)}`;
  process.stdout.write(`${text}\n`);
  const { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } = process.env;
  if (GITHUB_ACTIONS === 'true') process.stderr.write(reportToGitHub(heading, report, GITHUB_STEP_SUMMARY));
  return EXIT_CODES[report.verdict];
}

async function runFolder(sql: SqlFiles | undefined, { url }: RehearsedBranch): Promise<number> {
  try {
    if (sql !== undefined) await runLoadedFiles(sql, url);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function findBranch(
  api: Api,
  projectId: string | undefined,
  named: string | undefined,
): Promise<Branch> {
  const ids = projectId === undefined ? (await api.projects()).map(({ id }) => id) : [projectId];
  const all = (await Promise.all(ids.map(async (id) => api.branches(id)))).flat();
  const found = all.filter(({ id, name, default: isDefault }) =>
    named === undefined ? isDefault : named === id || named === name,
  );
  const [branch, other] = found;
  if (branch === undefined)
    throw new StartError('usage', named === undefined ? 'There is no branch' : `There is no branch ${named}`);
  if (other !== undefined && named !== undefined)
    throw new StartError(
      'usage',
      `Several branches are called ${named}. Name one by its id: ${found.map(({ id }) => id).join(', ')}`,
    );
  return branch;
}

/** Deletes the branches of rehearsals that were killed. Another rehearsal may be doing so, and they expire in any case. */
async function deleteAbandoned(api: Api, { project_id: projectId }: Branch): Promise<void> {
  for (const branch of await api.branches(projectId)) {
    const { name, maker } = branch;
    if (!name.startsWith(PREFIX) || maker === undefined || (await isRunning(JSON.parse(maker)))) continue;
    await api.deleteWithData(branch).catch(() => undefined);
  }
}

async function copyBranch(api: Api, parent: Branch, lifetime: number) {
  const maker = ownIdentity();
  const name = `${PREFIX}${process.pid}-${Date.now()}`;
  const branch = await api.createBranch(parent.project_id, {
    name,
    parent: parent.id,
    maker,
    lifetime,
  });
  if (branch === undefined) throw new Error(`There is a branch ${name} already`);
  return branch;
}
