/** Makes the statements that give tables and sequences the contents of the beginning. They run in one transaction. */
import type Client from 'pg/lib/client.js';
import {
  forcePoliciesStatement,
  type DatabaseState,
  type ResettableLayout,
  type ResettableTable,
} from './databaseState.ts';

/**
 * Returns the roots of the changed tables, and of all tables that reference these by foreign keys, directly or not. All of them must
 * be emptied together.
 */
export function rootsToEmpty(
  changed: readonly ResettableTable[],
  references: ResettableLayout['references'],
): Set<string> {
  const roots = new Set(changed.map(({ root }) => root));
  for (let size = -1; size !== roots.size;) {
    size = roots.size;
    for (const [from, to] of references) if (roots.has(to)) roots.add(from);
  }
  return roots;
}

/**
 * Returns statements that empty tables and fill them again.
 * @param roots what is emptied
 * @param tables the tables of these roots that contain rows themselves
 * @param rows the rows by table
 */
export function tableReplacementStatements(
  client: Client,
  roots: ReadonlySet<string>,
  tables: readonly ResettableTable[],
  rows: ReadonlyMap<string, string>,
): string[] {
  if (roots.size === 0) return [];
  // With `only`, the tables that inherit from a table stay as they are. A partitioned table isn't in `tables`, and is emptied with its
  // partitions.
  const targets = [...roots].map((root) =>
    tables.some(({ name }) => name === root) ? `only ${root}` : root,
  );
  const triggered = new Set(
    tables.filter(({ hasTriggers }) => hasTriggers).flatMap(({ name, root }) => [name, root]),
  );
  const triggerStatements = (what: string) =>
    [...triggered].map((name) => `alter table only ${name} ${what} trigger user;`);
  const forced = tables.filter(({ isForced }) => isForced);
  const policyStatements = (isForced: boolean) =>
    forced.map(({ name }) => `${forcePoliciesStatement(name, { isForced })};`);
  const inserts = tables.flatMap(({ name, columns }, index) => {
    const values = rows.get(name) ?? '';
    return values === ''
      ? []
      : [
          `i${index} as (insert into ${name} ${columns === null ? '' : `(${columns})`} overriding system value
            select ${columns ?? ''} from unnest(${client.escapeLiteral(values)}::${name}[]))`,
        ];
  });
  return [
    ...triggerStatements('disable'),
    ...policyStatements(false),
    `truncate ${targets.join(', ')};`,
    // One statement inserts all rows, so that foreign keys are checked when all are there.
    ...(inserts.length === 0 ? [] : [`with ${inserts.join(',\n')} select;`]),
    'set constraints all immediate;',
    ...policyStatements(true),
    ...triggerStatements('enable'),
  ];
}

/**
 * Returns statements that reset the changed sequences. Other sessions may have taken values of a cached sequence in advance. They
 * notice `setval` only after these values, but a restart at once.
 */
export function sequenceResetStatements(
  client: Client,
  { sequences }: ResettableLayout,
  before: DatabaseState,
  now: DatabaseState,
): string[] {
  const changed = sequences.flatMap(({ name, isCached }, at) =>
    isCached || now.sequences[at] !== before.sequences[at]
      ? [{ name, isCached, before: before.sequences[at] }]
      : [],
  );
  if (changed.length === 0) return [];
  const values = changed.map(({ name, before: text = '' }) => {
    const [value = '', isCalled = ''] = text.split(' ');
    return `setval(${client.escapeLiteral(name)}, ${value}, ${isCalled === 't'})`;
  });
  const cached = changed.filter(({ isCached }) => isCached);
  return [...cached.map(({ name }) => `alter sequence ${name} restart;`), `select ${values.join(', ')};`];
}
