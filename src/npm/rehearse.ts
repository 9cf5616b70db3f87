/** `npx hosted-postgres rehearse`: runs a command on a throw-away branch, and reports what it does to others and to the data. */
import { createPgClient } from '../base/sql/pgClient.ts';
import { ownIdentity } from '../base/processIdentity.ts';
import { possibleLosses, type Loss, type PossibleLoss } from '../rehearsal/losses.ts';
import { reportOf, textOf, type Report } from '../rehearsal/report.ts';
import { StartError } from '../service/core/serviceErrors.ts';
import type { Api, Branch } from './api.ts';

/** Milliseconds after which the service removes a branch that was left behind. */
const LIFETIME = 24 * 3_600_000;
const EXIT_CODES = { safe: 0, dangerous: 3, failed: 1 } as const;

export type RehearsedBranch = Branch & { readonly url: string };

export interface RehearsalOptions {
  /** The name or id of the branch; undefined: the default one of the first project. */
  readonly from: string | undefined;
  readonly longestLock: number;
  readonly json: boolean;
  /** Runs the command on the branch. @returns its exit code */
  run(this: void, branch: RehearsedBranch): Promise<number>;
}

/** Prints the report. @returns the exit code @throws {StartError} `usage` for an unknown branch */
export async function rehearse(
  api: Api,
  { from, longestLock, json, run }: RehearsalOptions,
): Promise<number> {
  const parent = await findBranch(api, from);
  const branch = await makeBranch(api, parent);
  try {
    await api.startRehearsal(branch);
    const exitCode = await run(branch);
    const rehearsal = await api.rehearsal(branch);
    const losses = await countLosses(api, { parent, branch }, possibleLosses(rehearsal));
    const report = reportOf({ rehearsal, losses, exitCode }, { longestLock });
    process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : textFor(parent, report));
    return EXIT_CODES[report.verdict];
  } finally {
    await api.delete(branch);
  }
}

const textFor = ({ name }: Branch, report: Report): string =>
  `Rehearsed on a copy of ${name}.\n${textOf(report)}\n`;

async function findBranch(api: Api, named: string | undefined): Promise<Branch> {
  const projects = await api.projects();
  const all = (await Promise.all(projects.map(async ({ id }) => api.branches(id)))).flat();
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

async function makeBranch(api: Api, parent: Branch) {
  const maker = ownIdentity();
  const name = `rehearsal-${process.pid}-${Date.now()}`;
  const branch = await api.createBranch(parent.project_id, {
    name,
    parent: parent.id,
    maker,
    lifetime: LIFETIME,
  });
  if (branch === undefined) throw new Error(`There is a branch ${name} already`);
  return branch;
}

/** Counts on the branch, and on another copy of the data as they are before the migration. */
async function countLosses(
  api: Api,
  { parent, branch }: { readonly parent: Branch; readonly branch: RehearsedBranch },
  losses: readonly PossibleLoss[],
): Promise<Loss[]> {
  if (losses.length === 0) return [];
  const copy = await makeBranch(api, parent);
  try {
    const counted: Loss[] = [];
    for (const loss of losses) counted.push({ ...loss, count: await countLoss(loss, { copy, branch }) });
    return counted;
  } finally {
    await api.delete(copy);
  }
}

async function countLoss(
  { database, kind, before, after }: PossibleLoss,
  { copy, branch }: Readonly<Record<'copy' | 'branch', RehearsedBranch>>,
): Promise<number> {
  const old = await countOn(copy, database, before);
  if (after === undefined) return Number(old);
  if (kind === 'rows') return Number(old) - Number(await countOn(branch, database, after));
  // Where no cast leads back to the former type, the values aren't known to be the same.
  return (await countOn(branch, database, after).catch(() => undefined)) === old ? 0 : 1;
}

/** @throws {Error} also for rows that the owner's own policies hide */
async function countOn(branch: RehearsedBranch, database: string, sql: string): Promise<string> {
  const url = new URL(branch.url);
  url.pathname = `/${encodeURIComponent(database)}`;
  const client = createPgClient({ connectionString: url.href, options: '-c row_security=off' });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number | string }>(sql);
    return String(rows[0]?.count);
  } finally {
    await client.end();
  }
}
