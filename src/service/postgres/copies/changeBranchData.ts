/** Creates, restores and deletes the data of branches. Every step can be repeated after the service was killed. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { BranchRestore, BranchSpec } from '../../core/computeEngine.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { withBranchServer } from '../branchData/branchServer.ts';
import { stopOrphanServer } from '../server/orphans.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { copyBranchDataTo, copyNewestBase } from './baseBackup.ts';
import { isAtRestSince } from './endOfWal.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import {
  createAtomically,
  isThere,
  makePrivateFolder,
  removeFileOrFolder,
  removeLargeFolder,
  writePrivateFile,
} from '../storage/privateFiles.ts';
import { HISTORY_FILE, inheritHistory, hasHistory, removeHistory, writeHistory } from '../history/history.ts';
import { copyDataAt, setRolePasswords } from './recoverTo.ts';
import { removeRows } from './removeRows.ts';
import { invalidateReplicaCopies } from './replicaCopies.ts';
import { dropSubscriptions, dropSubscriptionsOfCopy } from './subscriptions.ts';
import { formatLsn } from '../../core/lsn.ts';
import { RolePasswords } from '../roles/rolePasswords.ts';
import { restoredFolderOf } from '../storage/storage.ts';
import { recordData, syncToDisk } from '../template/syncToDisk.ts';

/**
 * Creates the data of a branch.
 * @returns the position (LSN) up to which a copy has the current data of its parent, unless a former call has made it
 * @throws {EngineError} and leaves nothing behind, unless the service is stopping: then the next service continues
 */
export async function createBranchData(
  deps: ServerDependencies,
  { id, parentId, owner, ...options }: BranchSpec,
): Promise<string | undefined> {
  const { branches, storage, shutdownSignal, isTemporary } = deps;
  const keepsHistory = options.keepsHistory === true && !isTemporary;
  if (parentId !== undefined) {
    const lsn = await branches.lock(parentId).shared(async () => {
      if (isThere(branches.folder(id))) return undefined;
      const end = await copyBranch(deps, parentId, storage.branch(id), { ...options, keepsHistory });
      await recordData(deps, id);
      return end;
    });
    if (options.passwordsOf !== undefined) {
      const wanted = new RolePasswords(storage.branch(options.passwordsOf)).all;
      new RolePasswords(storage.branch(id)).plan(wanted);
      await setPlannedPasswords(deps, id);
    }
    await removeUnwantedRows(deps, id);
    return lsn;
  }
  try {
    branches.login(id, owner);
    await branches.lock(id).exclusive(async () => branches.ensureDataDir(id, keepsHistory));
  } catch (error) {
    // A client may already know the password of the new branch, so the next service must find it.
    if (!shutdownSignal.aborted) removeFileOrFolder(storage.branch(id));
    throw error;
  }
  return undefined;
}

/** The name of a file that marks restored data whose roles don't have the passwords of the branch yet. */
const WITHOUT_PASSWORDS = 'without-passwords';

/** Sets the passwords that are planned for the roles of a new or restored branch. */
async function setPlannedPasswords(deps: ServerDependencies, id: string): Promise<void> {
  if (new RolePasswords(deps.storage.branch(id)).planned.size === 0) return;
  await deps.branches
    .lock(id)
    .exclusive(async () =>
      withBranchServer(deps, id, async (server) => setPlannedPasswordsOn(deps, id, server)),
    );
}

async function setPlannedPasswordsOn(
  deps: ServerDependencies,
  id: string,
  server: Postmaster,
): Promise<void> {
  const folder = deps.storage.branch(id);
  const passwords = new RolePasswords(folder);
  const { planned } = passwords;
  await setRolePasswords(deps, server, planned);
  passwords.confirm(planned);
  rmSync(path.join(folder, WITHOUT_PASSWORDS), { force: true });
}

/**
 * Gives the roles of restored data the passwords of their branch, if the restore couldn't. Call it while no client can connect, so
 * that no user has changed a password in SQL.
 */
export async function setPasswordsOfRestored(
  deps: ServerDependencies,
  id: string,
  server: Postmaster,
): Promise<void> {
  if (existsSync(path.join(deps.storage.branch(id), WITHOUT_PASSWORDS)))
    await setPlannedPasswordsOn(deps, id, server);
}

/** The name of a file that marks a copy whose rows are still to be removed, because only the schema is wanted. */
const WITH_ROWS = 'with-rows';

/** Removes the rows of a copy of which only the schema is wanted. */
async function removeUnwantedRows(deps: ServerDependencies, id: string): Promise<void> {
  const folder = deps.storage.branch(id);
  const mark = path.join(folder, WITH_ROWS);
  if (!existsSync(mark)) return;
  try {
    await deps.branches
      .lock(id)
      .exclusive(async () => withBranchServer(deps, id, async ({ address }) => removeRows(deps, address)));
    rmSync(mark);
  } catch (error) {
    if (!deps.shutdownSignal.aborted) {
      removeFileOrFolder(folder);
      deps.storage.forgetData(id);
    }
    throw error;
  }
}

/** Replaces the data of a branch. @throws {EngineError} and leaves the branch as it was */
export async function restoreBranchData(
  deps: ServerDependencies & { readonly log: (line: string) => void },
  restore: BranchRestore,
): Promise<void> {
  const { branches } = deps;
  const { id, sourceId, preservedId } = restore;
  const replace = async () =>
    branches.lock(id).exclusive(async () => {
      // If the preserved branch exists, the service was killed after the branch was replaced.
      if (preservedId !== undefined && isThere(branches.folder(preservedId))) return;
      await branches.ensureDataDir(id);
      await replaceBranch(deps, restore).catch((error: unknown) => {
        // If this branch exists, the data was replaced. A failure would remove it.
        if (preservedId === undefined || !isThere(branches.folder(preservedId))) throw error;
        deps.log(`${id}: ${String(error)}`);
      });
    });
  if (sourceId === id) return replace();
  await branches.lock(sourceId).shared(replace);
  // A failure here doesn't fail the restore, because a failed restore would delete the branch that preserves the earlier data. The
  // next start of the compute tries again.
  await setPlannedPasswords(deps, id).catch((error: unknown) => {
    if (deps.shutdownSignal.aborted) throw error;
    deps.log(
      `${id}: until its compute starts, its roles have the passwords of ${sourceId}: ${String(error)}`,
    );
  });
}

async function replaceBranch(
  deps: ServerDependencies,
  { id, sourceId, preservedId, moment }: BranchRestore,
): Promise<void> {
  const folder = deps.storage.branch(id);
  const old = preservedId === undefined ? `${folder}.replaced` : deps.storage.branch(preservedId);
  const replacement = restoredFolderOf(folder);
  // Read replicas must not continue from the old data: its WAL has the same positions and timeline.
  invalidateReplicaCopies(deps, id);
  const passwords = new RolePasswords(folder).all;
  // A service that was killed before the renames has left it.
  removeFileOrFolder(replacement);
  await copyBranch(deps, sourceId, replacement, { moment, keepsHistory: hasHistory(folder) });
  // Roles keep their passwords, as on the public service, so that connection strings stay valid.
  if (sourceId !== id) {
    const restored = new RolePasswords(replacement);
    restored.plan(passwords);
    if (restored.planned.size > 0) writePrivateFile(path.join(replacement, WITHOUT_PASSWORDS), '');
  }
  removeFileOrFolder(old);
  // If the service is killed between the two renames, its next start does the second rename (see `branch` in `storage.ts`).
  renameOverSync(folder, old);
  try {
    renameOverSync(replacement, folder);
  } catch (error) {
    renameOverSync(old, folder);
    throw error;
  }
  for (const each of preservedId === undefined ? [id] : [id, preservedId]) await recordData(deps, each);
  // The branch is restored. If the old data can't be removed now (a virus scanner may read it), the next start does.
  if (preservedId === undefined) await removeLargeFolder(old).catch(() => undefined);
}

/** Deletes the data of a branch, but not the bases that only it needed. */
export async function deleteBranchData(deps: ServerDependencies, id: string): Promise<void> {
  const { binaries, branches, storage } = deps;
  await branches.lock(id).exclusive(async () => {
    await stopOrphanServer(branches.folder(id), binaries.postgres);
    // This comes first, so that no check finds the data missing while they are being removed.
    storage.forgetData(id);
    await removeLargeFolder(storage.branch(id));
  });
  branches.forget(id);
  storage.removeAddress(id);
}

/**
 * Copies the data of a branch and the files next to it: passwords, and what the data requires of read replicas.
 * @returns the position (LSN) up to which the copy has the current data; undefined if that was recovered
 */
async function copyBranch(
  deps: ServerDependencies,
  branchId: string,
  to: string,
  { moment, isSchemaOnly = false, keepsHistory = false }: Omit<BranchSpec, 'id'>,
): Promise<string | undefined> {
  return await createAtomically(to, async (unfinished) => {
    makePrivateFolder(unfinished);
    const dataDir = path.join(unfinished, 'data');
    const source = deps.storage.branch(branchId);
    let end: number | undefined;
    // Files have a shorter history than a recovery.
    const isAtRest = moment !== undefined && !keepsHistory && isAtRestSince(deps, branchId, moment);
    if (moment !== undefined && !isAtRest)
      await copyDataAt(deps, branchId, unfinished, moment, async (server) =>
        dropSubscriptions(deps, server, dataDir),
      );
    else {
      const endOfBase = await copyNewestBase(deps, branchId, unfinished);
      end = endOfBase ?? (await copyBranchDataTo(deps, branchId, dataDir));
      if (endOfBase === undefined && keepsHistory) inheritHistory(deps.storage, source, unfinished);
      await dropSubscriptionsOfCopy(deps, branchId, unfinished);
    }
    for (const name of readdirSync(source).filter((file) => file.endsWith('.json') && file !== HISTORY_FILE))
      writePrivateFile(path.join(unfinished, name), readFileSync(path.join(source, name), 'utf8'));
    if (!keepsHistory) removeHistory(unfinished);
    // The history of a copy without the rows must not lead back to them.
    else if (isSchemaOnly) writeHistory(unfinished, []);
    if (isSchemaOnly) writePrivateFile(path.join(unfinished, WITH_ROWS), '');
    await syncToDisk(deps, dataDir);
    // A read of the catalog may have created the folder with the login of the branch.
    if (!isThere(path.join(to, 'data'))) removeFileOrFolder(to);
    return end === undefined ? undefined : formatLsn(end);
  });
}
