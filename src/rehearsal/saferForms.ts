/**
 * Finds safer forms of the statements that were dangerous in a rehearsal. They follow from what was seen there: the tags by which
 * Postgres names statements, and how the columns, constraints and files of tables have changed.
 */
import {
  relationKey,
  type Constraint,
  type Rehearsal,
  type RehearsedStatement,
  type Relation,
} from '../api/records/rehearsal.ts';
import type { BlockedTable } from './blockedTables.ts';
import type { VerdictReason } from './verdict.ts';

/** A form of a statement that keeps others waiting for a shorter time, or breaks nothing: `saferText` says what it is. */
export type SaferForm =
  | 'concurrentIndex'
  | 'partitionIndexes'
  | 'concurrentReindex'
  | 'concurrentRefresh'
  | 'notValid'
  | 'uniqueIndex'
  | 'checkedNotNull'
  | 'domainColumn'
  | 'filledColumn'
  | 'typeInSteps'
  | 'batches'
  | 'ownTransaction'
  | 'renameInSteps';

/** A safer form of a statement. */
export interface SaferStatement {
  /** The index of the statement in the rehearsal. */
  readonly statement: number;
  readonly table: string;
  readonly form: SaferForm;
}

/** Finds safer forms of the dangerous statements. @param reasons why the migration isn't safe */
export function saferStatements(reasons: readonly VerdictReason[], rehearsal: Rehearsal): SaferStatement[] {
  return [
    ...reasons.flatMap((reason) =>
      reason.kind === 'blocked' ? saferThanBlocking(reason.blocked, rehearsal) : [],
    ),
    ...(reasons.some(({ kind }) => kind === 'broken') ? saferThanRenaming(rehearsal) : []),
  ];
}

/**
 * Finds safer forms of the statement that took longest between the first lock of the table and the end of its transaction, or else
 * of the one that took the lock.
 */
function saferThanBlocking(blocked: BlockedTable, rehearsal: Rehearsal): SaferStatement[] {
  const { table, milliseconds } = blocked;
  const [taking = 0] = blocked.statements;
  const { statements } = rehearsal;
  const [longest] = statements
    .flatMap((statement, index) => {
      const isOfTransaction = statement.transaction === statements[taking]?.transaction;
      return isOfTransaction && index >= taking ? [{ statement, index }] : [];
    })
    .toSorted((a, b) => b.statement.milliseconds - a.statement.milliseconds);
  // A migration that uses LOCK TABLE wants to keep others waiting.
  if (longest === undefined || statements[taking]?.tags.includes('LOCK TABLE') === true) return [];
  // Whether the locks were held mostly because of this statement.
  const isCause = longest.statement.milliseconds > milliseconds / 2;
  const forms = isCause ? saferForms(longest, blocked, rehearsal) : [];
  if (forms.length > 0) return forms.map((form) => ({ statement: longest.index, table, form }));
  // If no single statement is the cause, or the longest one took none of the locks, committing right after the first lock
  // shortens the wait.
  const isHeldForOthers = !isCause || !blocked.statements.includes(longest.index);
  return isHeldForOthers ? [{ statement: taking, table, form: 'ownTransaction' }] : [];
}

interface IndexedStatement {
  readonly statement: RehearsedStatement;
  readonly index: number;
}

/** Returns the safer forms of a statement that keeps others waiting for a table. */
function saferForms(
  { statement: { tags }, index }: IndexedStatement,
  { blocks, database, table, rows, statements }: BlockedTable,
  { before, after, locks }: Rehearsal,
): SaferForm[] {
  if (rows !== undefined) return statements.includes(index) ? ['batches'] : [];
  // The table may have had another name before.
  const taken = locks.find(
    (each) => each.database === database && each.table === table && statements.includes(each.statement),
  );
  const old = taken && before.find((each) => relationKey(each) === relationKey(taken));
  if (old === undefined) return [];
  const isOfTable = locks.some((each) => each.statement === index && relationKey(each) === relationKey(old));
  const forms = tags.flatMap((tag): SaferForm[] => {
    if (tag === 'ALTER TABLE' || tag === 'DO')
      return [...saferThanRewriting(old, after), ...saferThanChecking(old, after)];
    if (!isOfTable) return [];
    if (tag === 'CREATE INDEX') return [old.kind === 'p' ? 'partitionIndexes' : 'concurrentIndex'];
    if (tag === 'REINDEX') return ['concurrentReindex'];
    return tag === 'REFRESH MATERIALIZED VIEW' && blocks === 'reads' ? ['concurrentRefresh'] : [];
  });
  return [...new Set(forms)];
}

/** Returns safer forms of the changes that have rewritten a table. */
function saferThanRewriting(old: Relation, after: readonly Relation[]): SaferForm[] {
  const now = after.find((each) => relationKey(each) === relationKey(old));
  if (now === undefined || now.file === old.file) return [];
  return Object.entries(now.columns).flatMap(([number, { type, isChecked }]): SaferForm[] => {
    const former = old.columns[number];
    if (former === undefined) return [isChecked === true ? 'domainColumn' : 'filledColumn'];
    return former.type === type ? [] : ['typeInSteps'];
  });
}

/**
 * Returns safer forms of the new constraints for which Postgres has checked the existing rows. A foreign key also locks the table
 * that it refers to.
 */
function saferThanChecking(old: Relation, after: readonly Relation[]): SaferForm[] {
  const added = after.flatMap(({ database, id, constraints = {} }) =>
    Object.entries(constraints).flatMap(([name, constraint]) => {
      const isOwn = id === old.id && old.constraints?.[name] === undefined;
      const isTarget = constraint.refersTo === old.id && id !== old.id;
      return database === old.database && constraint.isValidated && (isOwn || isTarget) ? [constraint] : [];
    }),
  );
  const isOfRows = ({ columns }: Constraint) => columns.some((number) => old.columns[number] !== undefined);
  const kinds = added.filter((each) => each.refersTo === old.id || isOfRows(each)).map(({ kind }) => kind);
  return kinds.flatMap((kind): SaferForm[] => {
    if (kind === 'f' || kind === 'c') return ['notValid'];
    if (kind === 'u' || kind === 'p') return ['uniqueIndex'];
    // A primary key also adds constraints for columns that are not null. The form for the key is enough.
    return kind === 'n' && !kinds.includes('p') ? ['checkedNotNull'] : [];
  });
}

/** Returns the safer form for each table with a new name or a renamed column, at the last statement that has locked the table. */
function saferThanRenaming({ before, after, locks }: Rehearsal): SaferStatement[] {
  const now = new Map(after.map((each) => [relationKey(each), each]));
  return before.flatMap((old) => {
    const same = now.get(relationKey(old));
    const lock = locks.findLast(
      (each) => relationKey(each) === relationKey(old) && each.mode === 'AccessExclusiveLock',
    );
    if (same === undefined || lock === undefined) return [];
    const isRenamed =
      same.name !== old.name ||
      Object.entries(old.columns).some(([number, { name }]) => (same.columns[number]?.name ?? name) !== name);
    return isRenamed ? [{ statement: lock.statement, table: old.name, form: 'renameInSteps' as const }] : [];
  });
}
