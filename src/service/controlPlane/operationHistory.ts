/** How many operations a project remembers, and how they are listed. */
import type { ProjectState } from '../state/account.ts';
import { isUnfinished, type Change } from '../state/storedRecords.ts';

/** Finished operations kept per project. */
export const REMEMBERED_OPERATIONS = 500;

/** The removal of the oldest finished operations that are too many. */
export function removeOldOperations(project: ProjectState): Change[] {
  let tooMany = project.operations.size - REMEMBERED_OPERATIONS;
  const removals: Change[] = [];
  for (const operation of project.operations.values()) {
    if (tooMany <= 0) break;
    if (isUnfinished(operation)) continue;
    removals.push({ removed: 'operation', projectId: project.record.id, id: operation.record.id });
    tooMany -= 1;
  }
  return removals;
}
