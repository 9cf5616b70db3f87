/** The differences between two schemas, as written by pg_dump. */
import { diffArrays } from 'diff';
import { splitObjects, splitOwners, withoutSessionSettings } from '../../../base/sql/dumpObjects.ts';

interface SchemaDifference {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

export function compareSchemas(before: string, after: string): SchemaDifference {
  const [old, current] = [readObjects(before), readObjects(after)];
  const common = [...current].filter(([name]) => old.has(name));
  return {
    added: current.size - common.length,
    removed: old.size - common.length,
    changed: common.filter(([name, text]) => old.get(name) !== text).length,
  };
}

/** Returns the statements that differ, with `-` before lines of `before` and `+` before those of `after`; empty without differences. */
export function schemaDiff(before: string, after: string): string {
  const [old, current] = [readObjects(before), readObjects(after)];
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter(
    (name) => old.get(name) !== current.get(name),
  );
  let effort = MAX_EFFORT;
  const differences = changed.map((name) => {
    const maxEdits = Math.floor(Math.sqrt(effort / 10));
    const lines = lineDiff(...withoutSameOwner(old.get(name) ?? '', current.get(name) ?? ''), maxEdits);
    const edits = lines.filter((line) => !line.startsWith(' ')).length;
    effort -= Math.min(edits, maxEdits) ** 2;
    return `-- ${name}\n${lines.join('\n')}`;
  });
  return differences.join('\n\n');
}

const readObjects = (dump: string) => splitObjects(withoutSessionSettings(dump));

/**
 * Removes the owners of an object if both sides have the same. Branches of a project have the same roles, so an owner is of
 * interest only if it differs.
 */
function withoutSameOwner(before: string, after: string): [before: string, after: string] {
  const [old, current] = [splitOwners(before), splitOwners(after)];
  const isSame = before === '' || after === '' || old.owners === current.owners;
  return isSame ? [old.text.trim(), current.text.trim()] : [before, after];
}

/** The time to find the fewest changed lines grows with their square, so this limits the sum of the squares. */
const MAX_EFFORT = 4_000_000;

/** Compares line by line. If more than `maxEdits` lines changed, all lines between the first and last change count as changed. */
function lineDiff(before: string, after: string, maxEdits: number): readonly string[] {
  const splitLines = (text: string) => (text === '' ? [] : text.split('\n'));
  const [old, current] = [splitLines(before), splitLines(after)];
  const parts = diffArrays(old, current, { maxEditLength: maxEdits }) ?? replaceMiddle(old, current);
  return parts.flatMap(({ value, added, removed }) =>
    value.map((line) => `${added ? '+' : removed ? '-' : ' '}${line}`),
  );
}

function replaceMiddle(old: readonly string[], current: readonly string[]) {
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start += 1;
  let same = 0;
  while (same < shorter - start && old.at(-1 - same) === current.at(-1 - same)) same += 1;
  return [
    { value: old.slice(0, start), added: false, removed: false },
    { value: old.slice(start, old.length - same), added: false, removed: true },
    { value: current.slice(start, current.length - same), added: true, removed: false },
    { value: old.slice(old.length - same), added: false, removed: false },
  ];
}
