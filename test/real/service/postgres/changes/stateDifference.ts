/** What has changed between two states of a database, by what they have and what was marked in between. */
import { nameOf, type State, type TableState } from './randomChanges.ts';

interface Entry {
  readonly schema: string | undefined;
  readonly name: string;
  readonly change: string | undefined;
  readonly rows: readonly number[];
}

/** What has changed between the first and the last of these states. */
export function differenceOf(states: readonly [State, ...State[]]): readonly Entry[] {
  const [first] = states;
  const last = states.at(-1) ?? first;
  const all = [...entriesOf(first.tables, last.tables, sumOf(states)), ...databaseEntries(first, last)];
  return all.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

/** What the transactions have done, by table. */
function sumOf(states: readonly State[]) {
  const sum = {
    rows: new Map<number, number[]>(),
    truncated: new Set<number>(),
    unlogged: new Set<number>(),
    wasUnlogged: new Set<number>(),
  };
  for (const [index, { tables, marks }] of states.entries()) {
    for (const { id, persistence } of tables.values()) if (persistence === 'u') sum.unlogged.add(id);
    const before = states[index - 1];
    if (before === undefined) continue;
    for (const { kind, id } of marks)
      for (const set of kind === 'truncated' ? [sum.truncated] : [sum.unlogged, sum.wasUnlogged]) set.add(id);
    for (const [id, { rows }] of tables) {
      const isNew = marks.some((mark) => mark.kind === 'truncated' && mark.id === id);
      const change = isNew
        ? [Object.keys(rows).length, 0, 0]
        : rowChanges(before.tables.get(id)?.rows ?? {}, rows);
      const earlier = isNew ? [0, 0, 0] : (sum.rows.get(id) ?? [0, 0, 0]);
      sum.rows.set(
        id,
        change.map((count, place) => count + (earlier[place] ?? 0)),
      );
    }
  }
  return sum;
}

function rowChanges(before: TableState['rows'], after: TableState['rows']): number[] {
  const [old, current] = [Object.keys(before), Object.keys(after)];
  return [
    current.filter((key) => !(key in before)).length,
    current.filter((key) => key in before && before[key] !== after[key]).length,
    old.filter((key) => !(key in after)).length,
  ];
}

function entriesOf(
  before: State['tables'],
  after: State['tables'],
  sum: ReturnType<typeof sumOf>,
): readonly Entry[] {
  const dropped = [...before.values()].filter(({ id }) => !after.has(id));
  const present = new Set([...after.values()].map(nameOf));
  const droppedNames = new Set(dropped.map(nameOf));
  const gone = dropped.map((table) => entry(table, present.has(nameOf(table)) ? 'replaced' : 'dropped'));
  const others = [...after.values()].flatMap((table) => {
    const old = before.get(table.id);
    if (droppedNames.has(nameOf(table))) return [];
    if (old === undefined) return entry(table, 'created');
    const rows = sum.unlogged.has(table.id) ? [0, 0, 0] : sum.rows.get(table.id);
    if (sum.truncated.has(table.id)) return entry(table, 'truncated', rows);
    const isAltered =
      nameOf(old) !== nameOf(table) || old.columns !== table.columns || old.persistence !== table.persistence;
    if (isAltered || sum.wasUnlogged.has(table.id)) return entry(table, 'altered', rows);
    return rows?.some((count) => count > 0) === true ? entry(table, undefined, rows) : [];
  });
  return [...gone, ...others];
}

function databaseEntries({ databases: before }: State, { databases: after }: State): readonly Entry[] {
  const gone = [...before].flatMap(([id, name]) => (after.has(id) ? [] : entry({ name }, 'dropped')));
  const others = [...after].flatMap(([id, name]) => {
    const old = before.get(id);
    return old === name ? [] : entry({ name }, old === undefined ? 'created' : 'altered');
  });
  return [...gone, ...others];
}

const entry = (
  { schema, name }: { readonly schema?: string; readonly name: string },
  change: string | undefined,
  rows: readonly number[] = [0, 0, 0],
): Entry => ({ schema, name, change, rows });
