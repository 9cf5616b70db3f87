/** The text of a Postgres setting as `postgresql.conf` has it; undefined for a value that is not a setting's. */
export function settingText(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : undefined;
}
