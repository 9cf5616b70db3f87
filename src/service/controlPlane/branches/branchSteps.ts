/** What each step on a branch does with the engine, and how its success or failure changes the records. */
import { toTimestamp } from '../../core/clock.ts';
import type { ComputeEngine } from '../../core/computeEngine.ts';
import type { ProjectState } from '../../state/store.ts';
import type { BranchRecord, BranchStep, Change } from '../../state/storedRecords.ts';
import { withState } from '../computeRecord.ts';
import { computesOf } from './branchRecord.ts';

export async function performOnBranch(
  step: BranchStep,
  engine: ComputeEngine,
  project: ProjectState,
  id: string,
): Promise<void> {
  switch (step.kind) {
    case 'createBranch':
      try {
        return await engine.createBranch({ id, parentId: step.parentId, owner: step.owner });
      } catch (error) {
        // The addresses of its computes are already open.
        for (const { record } of computesOf(project, id)) await engine.remove(record.id);
        throw error;
      }
    case 'restoreBranch':
      return engine.restoreBranch({ id, sourceId: step.sourceId, preservedId: step.preservedId });
    case 'deleteBranch':
      return engine.deleteBranch(id);
  }
}

export function afterBranchStep(step: BranchStep, project: ProjectState, id: string, now: number): Change[] {
  const branch = project.branches.get(id);
  if (branch === undefined) return [];
  switch (step.kind) {
    case 'createBranch':
      return [ready(branch, now)];
    case 'restoreBranch': {
      const { sourceId, preservedId } = step;
      const last_reset_at = toTimestamp(now);
      return [
        ready({ ...branch, parent_id: sourceId, last_reset_at }, now),
        ...(preservedId === undefined ? [] : afterPreserving(project, id, preservedId, now)),
      ];
    }
    case 'deleteBranch':
      return [];
  }
}

/** The preserved branch has the old data, so the children of the restored branch become its children. */
function afterPreserving(project: ProjectState, id: string, preservedId: string, now: number): Change[] {
  const preserved = project.branches.get(preservedId);
  if (preserved === undefined) return [];
  const children = [...project.branches.values()].filter((each) => each.parent_id === id);
  return [
    ready(preserved, now),
    ...children.map((child): Change => ({ set: 'branch', value: { ...child, parent_id: preservedId } })),
  ];
}

/** A branch or project that could not be created is gone. A branch that could not be restored is as before. */
export function afterBranchFailure(
  step: BranchStep,
  project: ProjectState,
  id: string,
  now: number,
): Change[] {
  const branch = project.branches.get(id);
  if (branch === undefined) return [];
  switch (step.kind) {
    case 'createBranch':
      if (step.parentId === undefined) return [{ removed: 'project', projectId: project.record.id }];
      return removeBranch(project, id);
    case 'restoreBranch':
      return [
        ready(branch, now),
        ...(step.preservedId === undefined ? [] : removeBranch(project, step.preservedId)),
        ...withoutPendingState(project, id, now),
      ];
    case 'deleteBranch':
      return [];
  }
}

/** Returns the changes that remove the branch and its computes from the account. */
export function removeBranch(project: ProjectState, id: string): Change[] {
  const projectId = project.record.id;
  const computes = computesOf(project, id);
  return [
    ...computes.map(({ record }): Change => ({ removed: 'compute', projectId, id: record.id })),
    { removed: 'branch', projectId, id },
  ];
}

/** The computes that the step suspended stay idle. */
const withoutPendingState = (project: ProjectState, branchId: string, now: number): Change[] =>
  computesOf(project, branchId).map((compute) => ({
    set: 'compute',
    value: { ...compute, record: withState(compute.record, { pending: undefined }, now) },
  }));

function ready(branch: BranchRecord, now: number): Change {
  const { pending_state: _, ...rest } = branch;
  const at = toTimestamp(now);
  return {
    set: 'branch',
    value: { ...rest, current_state: 'ready', state_changed_at: at, updated_at: at },
  };
}
