/** Creates, restores and deletes the data of branches. Every step can be repeated after the service was killed. */
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { BranchRestore, BranchSpec } from '../../core/computeEngine.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { copyData, prepareCopy } from './baseBackup.ts';
import type { ServerTools } from './branchData.ts';
import { createAtomically, makePrivateFolder, removeAll, writePrivateFile } from './files.ts';
import { forgetCopies } from './replicaCopies.ts';
import { syncToDisk } from './template.ts';
import { endServer } from '../process/orphans.ts';

/** @throws {EngineError} and leaves nothing behind, unless the service is ending: then the next one continues */
export async function createBranch(tools: ServerTools, { id, parentId, owner }: BranchSpec): Promise<void> {
  const { branches, storage, shutdownSignal } = tools;
  try {
    if (parentId === undefined) {
      branches.login(id, owner);
      await branches.withLock(id, async () => branches.ensure(id));
      return;
    }
    await branches.withSharedLock(parentId, async () => {
      if (existsSync(branches.folder(id))) return;
      await prepareCopy(tools, parentId);
      copyRecords(tools, parentId, id);
      await copyBranch(tools, parentId, branches.folder(id));
    });
  } catch (error) {
    // The password of a new branch may be known already, so the next service must find it.
    if (!shutdownSignal.aborted) rmSync(storage.branch(id), { recursive: true, force: true });
    throw error;
  }
}

/** @throws {EngineError} and leaves the branch as it was */
export async function restoreBranch(tools: ServerTools, restore: BranchRestore): Promise<void> {
  const { branches } = tools;
  const { id, sourceId, preservedId } = restore;
  await branches.withSharedLock(sourceId, async () =>
    branches.withLock(id, async () => {
      await branches.ensure(id);
      // If the preserved branch exists, the service was killed after the data was replaced.
      if (preservedId === undefined || !existsSync(branches.folder(preservedId)))
        await replaceData(tools, restore).catch((error: unknown) => {
          // The next service continues.
          if (!tools.shutdownSignal.aborted) discardReplacement(tools, restore);
          throw error;
        });
      takeStagedRecords(tools, sourceId, id);
    }),
  );
}

async function replaceData(tools: ServerTools, { id, sourceId, preservedId }: BranchRestore): Promise<void> {
  const { branches } = tools;
  const replacement = branches.replacement(id);
  rmSync(replacement, { recursive: true, force: true });
  await prepareCopy(tools, sourceId);
  await copyBranch(tools, sourceId, replacement);
  // Before the data is replaced: writing may fail, for lack of space for example, but renaming hardly can.
  writeRecords(tools, sourceId, id, STAGED);
  // Read replicas must not continue from the old data: its WAL has the same positions and timeline.
  forgetCopies(tools, id);
  if (preservedId !== undefined) copyRecords(tools, id, preservedId);
  const old = preservedId === undefined ? `${branches.folder(id)}.replaced` : branches.folder(preservedId);
  if (preservedId === undefined) await rm(old, { recursive: true, force: true });
  // If the service is killed in between, `finishRestore` does the second step.
  renameOverSync(branches.folder(id), old);
  try {
    renameOverSync(replacement, branches.folder(id));
  } catch (error) {
    renameOverSync(old, branches.folder(id));
    throw error;
  }
  // The branch is restored. If the old data can't be removed now (a virus scanner may read it), the next restore does.
  if (preservedId === undefined)
    await rm(old, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

function discardReplacement({ branches, storage }: ServerTools, { id, preservedId }: BranchRestore): void {
  try {
    removeAll(branches.replacement(id));
    const folder = storage.branch(id);
    for (const name of readdirSync(folder)) if (name.includes(STAGED)) removeAll(path.join(folder, name));
    if (preservedId !== undefined && existsSync(branches.folder(id))) removeAll(storage.branch(preservedId));
  } catch {
    // The caller gets the error of the restore. The next start removes these files.
  }
}

export async function deleteBranch({ branches, storage }: ServerTools, id: string): Promise<void> {
  await branches.withLock(id, async () => {
    await endServer(branches.folder(id));
    await rm(storage.branch(id), { recursive: true, force: true, maxRetries: 3 });
  });
  branches.forget(id);
}

async function copyBranch(tools: ServerTools, from: string, to: string): Promise<void> {
  await createAtomically(to, async (unfinished) => {
    const release = await copyData(tools, from, unfinished, 'copied');
    await release();
    await syncToDisk(tools, unfinished);
  });
}

/** Of the new records of a branch until its data is replaced. */
const STAGED = '.restored';

/** Copies the files next to the data: passwords, and what the data requires of read replicas. */
function copyRecords(tools: ServerTools, from: string, to: string): void {
  writeRecords(tools, from, to);
  removeOtherRecords(tools, from, to);
}

function writeRecords({ storage }: ServerTools, from: string, to: string, suffix = ''): void {
  const [source, target] = [storage.branch(from), storage.branch(to)];
  makePrivateFolder(target);
  for (const name of filesIn(source))
    writePrivateFile(path.join(target, name + suffix), readFileSync(path.join(source, name), 'utf8'));
}

function removeOtherRecords({ storage }: ServerTools, from: string, to: string): void {
  const names = filesIn(storage.branch(from));
  for (const name of filesIn(storage.branch(to)))
    if (!names.includes(name)) rmSync(path.join(storage.branch(to), name));
}

/** Those that are missing were taken before the service was killed. */
function takeStagedRecords(tools: ServerTools, from: string, to: string): void {
  removeOtherRecords(tools, from, to);
  const target = tools.storage.branch(to);
  for (const name of filesIn(tools.storage.branch(from))) {
    const staged = path.join(target, name + STAGED);
    if (existsSync(staged)) renameOverSync(staged, path.join(target, name));
  }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map(({ name }) => name);
