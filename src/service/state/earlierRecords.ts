/** Completes the records of format 1 of the journal, which lack fields that every record has now. */
import { settingText } from '../../api/records/settingText.ts';
import { LOCAL_USER } from './localUser.ts';
import {
  bytesOfMiB,
  CREATION_SOURCE,
  durationOf,
  readyBranch,
  type BranchRecord,
  type Change,
  type ComputeRecord,
  type OperationRecord,
  type OperationStep,
  type ProjectRecord,
} from './storedRecords.ts';

/** A record in which these fields may be missing. */
type Earlier<T, Missing extends keyof T> = Omit<T, Missing> & Partial<Pick<T, Missing>>;

/** What completing a record needs from others, by the id of their project. */
interface Context {
  readonly provisioners: ReadonlyMap<string, string>;
  /** All other branches are its children. */
  readonly defaultBranches: ReadonlyMap<string, string>;
}

export function completed(changes: readonly Change[]): readonly Change[] {
  const provisioners = new Map<string, string>();
  const defaultBranches = new Map<string, string>();
  for (const change of changes) {
    if ('removed' in change) continue;
    if (change.set === 'project') provisioners.set(change.value.id, change.value.provisioner);
    if (change.set === 'branch' && change.value.default)
      defaultBranches.set(change.value.project_id, change.value.id);
  }
  return changes.map((change) => completedChange(change, { provisioners, defaultBranches }));
}

function completedChange(change: Change, context: Context): Change {
  if ('removed' in change) return change;
  switch (change.set) {
    case 'project':
      return { set: 'project', value: completedProject(change.value) };
    case 'branch':
      return { set: 'branch', value: completedBranch(change.value, context) };
    case 'compute': {
      const record = completedCompute(change.value.record, context);
      return { set: 'compute', value: { ...change.value, record } };
    }
    case 'operation': {
      const { record, step, ...rest } = change.value;
      const value = { ...rest, record: completedOperation(record), step: completedStep(step, context) };
      return { set: 'operation', value };
    }
    case 'key':
    case 'leftover':
      return change;
  }
}

const completedProject = (
  record: Earlier<
    ProjectRecord,
    'branch_logical_size_limit_bytes' | 'store_passwords' | 'active_time' | 'creation_source' | 'owner_id'
  >,
): ProjectRecord => ({
  branch_logical_size_limit_bytes: bytesOfMiB(record.branch_logical_size_limit),
  store_passwords: true,
  active_time: 0,
  creation_source: CREATION_SOURCE,
  owner_id: LOCAL_USER.id,
  ...record,
});

function completedBranch(branch: BranchRecord, { defaultBranches }: Context): BranchRecord {
  const parent = defaultBranches.get(branch.project_id);
  return readyBranch(branch.default || parent === undefined ? branch : { parent_id: parent, ...branch });
}

const completedCompute = (
  record: Earlier<ComputeRecord, 'provisioner' | 'creation_source'>,
  { provisioners }: Context,
): ComputeRecord => ({
  provisioner: provisioners.get(record.project_id) ?? '',
  creation_source: CREATION_SOURCE,
  ...record,
  settings: { pg_settings: settingTexts(record.settings.pg_settings) },
});

const completedOperation = (record: Earlier<OperationRecord, 'total_duration_ms'>): OperationRecord => ({
  total_duration_ms: durationOf(record),
  ...record,
});

const completedStep = (step: OperationStep, context: Context): OperationStep =>
  step.kind === 'apply' ? { ...step, before: completedCompute(step.before, context) } : step;

/** They could be numbers and booleans. */
const settingTexts = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, settingText(value) ?? '']));
