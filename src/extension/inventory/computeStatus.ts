/** The state, name and size of a compute as the sidebar, the pickers and the editor show them. */
import type { SizeRange } from '../../api/rules/sizes.ts';
import type { Compute } from '../../api/records/records.ts';

/** `init` is the first start, `pending` any other change, and `unknown` a state that isn't in the specification. */
export type ComputeStatus = 'pending' | 'init' | 'active' | 'idle' | 'disabled' | 'unknown';

type ComputeStateFields = Pick<Compute, 'current_state' | 'pending_state' | 'disabled'>;

export function computeStatus(compute: ComputeStateFields): ComputeStatus {
  if (compute.current_state === 'init') return 'init';
  if (isChanging(compute)) return 'pending';
  if (compute.disabled === true) return 'disabled';
  if (compute.current_state === 'active') return 'active';
  return compute.current_state === 'idle' ? 'idle' : 'unknown';
}

/** Whether a change is pending. A restart is one, although it ends in the state it started from. */
const isChanging = (compute: ComputeStateFields): boolean => (compute.pending_state ?? '') !== '';

/** Whether no change is pending: the last one has finished or failed. */
export const isSettled = (compute: ComputeStateFields): boolean =>
  compute.current_state !== 'init' && !isChanging(compute);

export const isPrimary = (compute: Pick<Compute, 'type'>): boolean => compute.type === 'read_write';

/** Returns the compute's name, or else its id. */
export const computeLabel = (compute: Pick<Compute, 'id' | 'name'>): string => compute.name || compute.id;

export type SizeFields = Pick<Compute, 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu'>;

/** Returns compute units, or undefined if the record has no size. */
export function computeSizeRange(compute: SizeFields): SizeRange | undefined {
  const { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = compute;
  const smallest = min ?? max ?? undefined;
  return smallest === undefined ? undefined : { min: smallest, max: max ?? smallest };
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Compares numbers in names by value: `feature/9` comes before `feature/10`. */
export const compareNames = (a: string, b: string): number => collator.compare(a, b);

/** Orders computes as the sidebar and the pickers do: the primary of a branch first, then by label, then by id. */
export function compareComputes(a: Compute, b: Compute): number {
  if (isPrimary(a) !== isPrimary(b)) return isPrimary(a) ? -1 : 1;
  return compareNames(computeLabel(a), computeLabel(b)) || (a.id < b.id ? -1 : 1);
}

/** Values of Postgres settings as in `postgresql.conf`, by name. */
export type PostgresSettings = Readonly<Record<string, string>>;

/** Returns the value of a Postgres setting as in `postgresql.conf`; undefined if no setting can have this value. */
export function settingValueText(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the settings in the compute's record. */
export function postgresSettings({ settings }: Pick<Compute, 'settings'>): PostgresSettings {
  const entries = Object.entries(settings?.pg_settings ?? {});
  return Object.fromEntries(entries.flatMap(([name, value]) => [[name, settingValueText(value) ?? '']]));
}
