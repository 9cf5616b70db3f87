/** Whether two JSON values are equal, regardless of the order of properties. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (Array.isArray(a) || Array.isArray(b)) return false;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  let count = 0;
  for (const key in left) {
    if (!isEqual(left[key], right[key])) return false;
    count += 1;
  }
  for (const _ in right) count -= 1;
  return count === 0;
}
