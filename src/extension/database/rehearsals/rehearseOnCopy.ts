/** Rehearses on a copy of a branch. The copy is deleted in every case, or else expires. */
import { canLogIn } from '../../../api/passwords.ts';
import type { BranchOrigin, CopySource } from '../../../api/records/pointInTime.ts';
import type { Branch } from '../../../api/records/records.ts';
import type { BranchCopy } from '../../../rehearsal/branchCopy.ts';
import { isAbandonedCopy, ownMaker } from '../../../rehearsal/abandonedCopies.ts';
import { copySettings } from '../../../rehearsal/copySettings.ts';
import { rehearse, type RehearsedSteps } from '../../../rehearsal/rehearse.ts';
import { DEFAULT_LONGEST_LOCK, type RehearsalReport } from '../../../rehearsal/report.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { BranchIds } from '../../account/refs.ts';
import type { BranchActions } from '../../branches/branchActions.ts';
import { expiryAfter } from '../../branches/expiryTime.ts';
import { findComputeLogin } from '../../connection/branchLogin.ts';
import { renewBranchPasswords } from '../../connection/renewPasswords.ts';
import { connectionString } from '../../connection/connectionStrings.ts';
import type { BranchLogin } from '../../connection/sqlSession.ts';
import type { SendOptions } from '../../operations/changeSender.ts';
import { finishChange } from '../../operations/finishChange.ts';
import { NotOfferedError } from '../../window/changeErrors.ts';
import type { OperationTracker } from '../../operations/operationTracker.ts';

/** A copy with the login of its owner, which is a secret. */
export interface RehearsedCopy extends BranchCopy, BranchIds {
  readonly login: BranchLogin;
}

interface Dependencies {
  readonly branchActions: BranchActions;
  readonly tracker: Pick<OperationTracker, 'onDidEnd' | 'follow'>;
  readonly log: { error(activity: string, error: unknown): void };
}

interface RehearsalRequest extends RehearsedSteps<RehearsedCopy> {
  /** The branch to copy. It must not expire, because a branch that expires can't have children. */
  readonly parent: BranchIds;
  readonly database: string;
  /** Milliseconds that others may wait for a table. */
  readonly longestLock?: number | undefined;
}

/** @param signal ends the rehearsal. @throws {ApiError} @throws {Error} if an operation failed, or the signal ended it */
export async function rehearseOnCopy(
  deps: Dependencies,
  connection: AccountConnection,
  { parent, database, longestLock = DEFAULT_LONGEST_LOCK, ...steps }: RehearsalRequest,
  signal: AbortSignal,
): Promise<RehearsalReport> {
  if (connection.isLocal) await removeAbandonedCopies(deps, connection, parent.projectId);
  const client = await connection.client();
  const { branches } = client;
  const ends = { signal: connection.signal };
  // Only what the report says of Undo needs it.
  const project = await client.getProject(parent.projectId, ends).catch(() => undefined);
  const historySeconds = project?.history_retention_seconds ?? undefined;
  const rehearser = {
    copyBranch: async (source?: CopySource) => copyBranch(deps, connection, { parent, database, source }),
    origin: async ({ projectId, branchId }: BranchIds) => branches.getOrigin(projectId, branchId, ends),
    isUnchangedSince: connection.isLocal
      ? async ({ branchId, lsn }: BranchOrigin) =>
          branches.isUnchangedSince(parent.projectId, branchId, lsn, ends)
      : undefined,
    startRehearsal: async ({ projectId, branchId }: BranchIds) =>
      branches.startRehearsal(projectId, branchId, ends),
    rehearsal: async ({ projectId, branchId }: BranchIds) => branches.getRehearsal(projectId, branchId, ends),
    schema: async ({ projectId, branchId }: BranchIds, name: string) =>
      branches.getSchema(projectId, branchId, name, ends),
    delete: async (copy: BranchIds) => removeCopy(deps, connection, copy),
  };
  return await rehearse<RehearsedCopy>(rehearser, steps, { longestLock, historySeconds }, signal);
}

/** The rehearsal is announced to the user or the agent, and its copies are not. */
const quietly = (initialConnection: AccountConnection): SendOptions => ({ initialConnection, isQuiet: true });

/** Makes a copy of the branch. This can't be canceled, because a branch whose creation was canceled may exist. */
async function copyBranch(
  deps: Dependencies,
  connection: AccountConnection,
  {
    parent: { projectId, branchId },
    database,
    source,
  }: Pick<RehearsalRequest, 'parent' | 'database'> & { readonly source: CopySource | undefined },
): Promise<RehearsedCopy> {
  const { name, lifetime } = copySettings({ isBilled: !connection.isLocal });
  const creation = {
    branch: {
      name,
      parent_id: source?.branchId ?? branchId,
      parent_lsn: source?.lsn,
      expires_at: expiryAfter(lifetime / 1000),
    },
    endpoints: [{ type: 'read_write' as const }],
    ...(connection.isLocal && { annotation_value: { maker: JSON.stringify(await ownMaker()) } }),
  };
  let record: Branch | undefined;
  try {
    const { computes: [compute] = [] } = await finishChange(deps.tracker, connection, async () => {
      const created = await deps.branchActions.create(projectId, creation, quietly(connection));
      record = created.branch;
      return created;
    });
    const sharedRoles =
      record === undefined || connection.isLocal
        ? []
        : await renewPasswordsOfCopy(deps, connection, projectId, record);
    const login = compute && (await findComputeLogin(connection, compute, { database }));
    if (record === undefined || login === undefined || login.missing !== undefined)
      throw new Error(`The copy of ${branchId} has no login for ${database}.`);
    return { projectId, branchId: record.id, login, url: connectionString(login), sharedRoles };
  } catch (error) {
    if (record !== undefined) await removeCopy(deps, connection, { projectId, branchId: record.id });
    throw error;
  }
}

/**
 * Gives the roles of the copy new passwords.
 * @returns the roles that still have the passwords of the parent: all that can log in if the service can't change any
 */
async function renewPasswordsOfCopy(
  { branchActions, tracker }: Dependencies,
  connection: AccountConnection,
  projectId: string,
  record: Branch,
): Promise<readonly string[]> {
  const client = await connection.client();
  const roles = (await client.listRoles(projectId, record.id, { signal: connection.signal })) ?? [];
  try {
    const { kept } = await renewBranchPasswords(
      { branchActions, tracker },
      { projectId, branchId: record.id, record, roles },
      async (send) => finishChange(tracker, connection, async () => send(quietly(connection))),
    );
    return kept;
  } catch (error) {
    if (error instanceof NotOfferedError) return roles.filter(canLogIn).map(({ name }) => name);
    throw error;
  }
}

/**
 * Deletes the copies of windows and programs that were killed. Never rejects: another rehearsal may delete them, and they expire in any
 * case.
 */
async function removeAbandonedCopies(
  deps: Dependencies,
  connection: AccountConnection,
  projectId: string,
): Promise<void> {
  try {
    const { branches } = await connection.client();
    for (const branch of await branches.listWithMakers(projectId, { signal: connection.signal }))
      if (await isAbandonedCopy(branch))
        await removeCopy(deps, connection, { projectId, branchId: branch.id });
  } catch (error) {
    deps.log.error('Deleting the copies of ended rehearsals', error);
  }
}

/** Deletes a copy. Never rejects: if the copy can't be deleted, it expires. */
async function removeCopy(
  { branchActions, log }: Dependencies,
  connection: AccountConnection,
  copy: BranchIds,
): Promise<void> {
  await branchActions
    .delete(copy, { unprotect: false }, quietly(connection))
    .catch((error: unknown) => log.error('Deleting the copy of a rehearsal', error));
}
