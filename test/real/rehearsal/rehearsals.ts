/** Rehearses migrations on copies of the seeded tables, or of others. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import type { BranchOrigin, CopySource } from '../../../src/api/records/pointInTime.ts';
import { ServiceApi, type Branch } from '../../../src/npm/api.ts';
import { loadMigrationSteps } from '../../../src/rehearsal/migrationSteps.ts';
import { rehearse } from '../../../src/rehearsal/rehearse.ts';
import type { RehearsalReport } from '../../../src/rehearsal/report.ts';
import { ENGLISH_TEXTS } from '../../../src/rehearsal/text/terminalReport.ts';
import type { DownStep } from '../../../src/rehearsal/wayBack.ts';
import {
  startLocalService,
  type LocalService,
  type LocalServiceOptions,
} from '../../helpers/localService.ts';
import { runStatements } from '../service/postgres/clients.ts';
import { superuserUri } from '../service/postgres/controlPlane.ts';
import { TEST_LIMIT } from '../../limits.ts';
import { AS_SUPERUSER, SEEDED_TABLES } from './seededTables.ts';

/** An hour, in milliseconds. */
const LIFETIME = 3_600_000;

type Copy = Branch & { readonly url: string };

export interface Rehearsals {
  readonly service: LocalService;
  /** Of the branch whose copies are used. */
  readonly url: string;
  readonly branchId: string;
  /**
   * @param run applies the migration, and returns an exit code
   * @param longestLock milliseconds for which others may wait. By default, no machine takes as long for the locks of these tests.
   */
  rehearse(
    run: (copy: Copy) => Promise<number>,
    down?: DownStep<Copy>,
    longestLock?: number,
  ): Promise<RehearsalReport>;
  /** Runs the files of a folder. */
  rehearseFolder(folder: string): Promise<RehearsalReport>;
  /** A further copy, for what is true. */
  copy(): Promise<Copy>;
  remove(copy: Copy): Promise<void>;
}

/** With the seeded tables. */
export async function startSeeded(options: RehearsalsOptions = {}): Promise<Rehearsals> {
  const rehearsals = await startRehearsals(options);
  await runStatements(superuserUri(rehearsals.service, rehearsals.url), ...AS_SUPERUSER);
  await runStatements(rehearsals.url, ...SEEDED_TABLES);
  return rehearsals;
}

interface RehearsalsOptions extends Pick<LocalServiceOptions, 'dataDir'> {
  /** As with a service that doesn't see statements. */
  readonly isSampled?: boolean;
}

export async function startRehearsals({
  isSampled = false,
  ...options
}: RehearsalsOptions = {}): Promise<Rehearsals> {
  const service = await startLocalService(options);
  const api = new ServiceApi(service.baseUrl, service.key);
  const project = await api.createProject('rehearsals');
  const [parent] = await api.listBranches(project);
  return rehearsalsOf(service, parent, isSampled);
}

/** On copies of a branch. @param isSampled as with a service that doesn't see statements */
export async function rehearsalsOf(
  service: LocalService,
  parent: Branch | undefined,
  isSampled = false,
): Promise<Rehearsals> {
  const api = new ServiceApi(service.baseUrl, service.key);
  const url = parent && (await api.findUrl(parent));
  if (parent === undefined || url === undefined) throw new Error('The project has no database');
  const project = parent.project_id;
  let count = 0;
  const copy = async (source?: CopySource): Promise<Copy> => {
    const name = `copy-${(count += 1)}`;
    const creation = {
      name,
      parent: source?.branchId ?? parent.id,
      lsn: source?.lsn,
      maker: ownIdentity(),
      lifetime: LIFETIME,
    };
    const branch = await api.createBranch(project, creation);
    if (branch === undefined) throw new Error(`There is a branch ${name} already`);
    return branch;
  };
  const remove = async (branch: Copy) => api.delete(branch);
  const rehearser = {
    copyBranch: copy,
    origin: async (branch: Copy) => api.findOrigin(branch),
    isUnchangedSince: async (origin: BranchOrigin) => api.isUnchangedSince(project, origin),
    startRehearsal: async (branch: Copy) => !isSampled && api.startRehearsal(branch),
    rehearsal: async (branch: Copy) => api.readRehearsal(branch),
    schema: async (branch: Copy, database: string) => api.readSchema(branch, database),
    delete: remove,
  };
  return {
    service,
    url,
    branchId: parent.id,
    copy,
    remove,
    rehearse: async (run, down, longestLock = TEST_LIMIT) =>
      rehearse(rehearser, { run, down }, { longestLock }),
    rehearseFolder: async (folder) => {
      const run = async () => assert.fail('The folder is for a tool');
      const steps = await loadMigrationSteps<Copy>({ folder }, { run, write: () => undefined });
      return rehearse(rehearser, steps, { longestLock: TEST_LIMIT });
    },
  };
}

/** Runs statements in one session, as a tool does. @returns 2 for an error */
export async function migrate(url: string, statements: readonly string[]): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
    return 0;
  } catch {
    return 2;
  } finally {
    await client.end();
  }
}

/** Why a migration is dangerous or fails. How long others wait depends on the machine. */
export const withoutDurations = (report: RehearsalReport): string[] =>
  verdictSentences(report)
    .map((sentence) => sentence.replace(/ for [\d.]+ (?:ms|sec)\.$/, '.'))
    .toSorted();

export const verdictSentences = (report: RehearsalReport): readonly string[] =>
  ENGLISH_TEXTS.verdictSentences(report);

/** Such as `public.orders: notValid`. */
export const saferForms = ({ safer }: RehearsalReport): string[] =>
  safer.map(({ table, form }) => `${table}: ${form}`).toSorted();
