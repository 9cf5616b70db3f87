/** Completes records that an earlier version of the service stored without fields that every record has now. */
import { settingText } from '../../api/records/settingText.ts';
import { LOCAL_USER } from './localUser.ts';
import {
  bytesOfMiB,
  CREATION_SOURCE,
  durationOf,
  type Change,
  type ComputeRecord,
  type OperationRecord,
  type OperationStep,
  type ProjectRecord,
} from './storedRecords.ts';

/** A record in which these fields may be missing. */
type Earlier<T, Missing extends keyof T> = Omit<T, Missing> & Partial<Pick<T, Missing>>;
type ProvisionerOf = (projectId: string) => string;

/** @param provisionerOf returns a project's provisioner by the id of the project, which was stored before its computes */
export function completed(change: Change, provisionerOf: ProvisionerOf): Change {
  if ('removed' in change) return change;
  switch (change.set) {
    case 'project':
      return { set: 'project', value: completedProject(change.value) };
    case 'compute': {
      const record = completedCompute(change.value.record, provisionerOf);
      return { set: 'compute', value: { ...change.value, record } };
    }
    case 'operation': {
      const { record, step, ...rest } = change.value;
      const value = {
        ...rest,
        record: completedOperation(record),
        step: completedStep(step, provisionerOf),
      };
      return { set: 'operation', value };
    }
    case 'branch':
    case 'key':
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

const completedCompute = (
  record: Earlier<ComputeRecord, 'provisioner' | 'creation_source'>,
  provisionerOf: ProvisionerOf,
): ComputeRecord => ({
  provisioner: provisionerOf(record.project_id),
  creation_source: CREATION_SOURCE,
  ...record,
  settings: { pg_settings: settingTexts(record.settings.pg_settings) },
});

const completedOperation = (record: Earlier<OperationRecord, 'total_duration_ms'>): OperationRecord => ({
  total_duration_ms: durationOf(record),
  ...record,
});

const completedStep = (step: OperationStep, provisionerOf: ProvisionerOf): OperationStep =>
  step.kind === 'apply' ? { ...step, before: completedCompute(step.before, provisionerOf) } : step;

/** They could be numbers and booleans. */
const settingTexts = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, settingText(value) ?? '']));
