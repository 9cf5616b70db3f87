import assert from 'node:assert/strict';
import type { Relation } from '../../../src/api/records/rehearsal.ts';
import {
  actualLosses,
  lossesFromCounts,
  possibleLosses,
  unloggedLosses,
} from '../../../src/rehearsal/losses.ts';

const table: Relation = {
  database: 'app',
  id: 1,
  name: 'public.users',
  kind: 'r',
  file: 1,
  bytes: 0,
  columns: { 1: { name: 'id', type: 'integer' }, 2: { name: 'a"b', type: 'text' } },
};
const losses = (before: Relation, after: Relation) =>
  possibleLosses({ statements: [], locks: [], before: [before], after: [after] });

describe('unloggedLosses', () => {
  const find = (before: Partial<Relation>, after: Partial<Relation> | undefined) => {
    const lock = {
      database: 'app',
      id: 1,
      table: 'public.users',
      mode: 'RowExclusiveLock',
      from: 0,
      to: 1,
      statement: 0,
    };
    const all = (each: Partial<Relation> | undefined) =>
      each === undefined ? [] : [{ ...table, isUnlogged: true, ...each }];
    return unloggedLosses({ statements: [], locks: [lock as never], before: all(before), after: all(after) })
      .length;
  };

  it('has tables that are gone, emptied or written, but none that was only written again', () => {
    assert.equal(find({ bytes: 8, writes: 1 }, undefined), 1);
    assert.equal(find({ bytes: 8, writes: 1 }, { bytes: 0, writes: 1, file: 2 }), 1);
    assert.equal(find({ bytes: 8, writes: 1 }, { bytes: 8, writes: 2 }), 1);
    assert.equal(find({ bytes: 8, writes: 1 }, { bytes: 8, writes: 1, file: 2 }), 0);
  });

  it('has a locked table whose writes are not counted', () => {
    assert.equal(find({ bytes: 8, writes: 1 }, { bytes: 8 }), 1);
    assert.equal(find({ bytes: 8 }, { bytes: 8 }), 1);
  });
});

describe('possibleLosses', () => {
  it('has nothing to count for a table that is as it was', () => {
    assert.deepEqual(losses(table, table), []);
    assert.deepEqual(losses(table, { ...table, name: 'other.users' }), []);
  });

  it('has nothing to count for rows that were only added, if Postgres counts the others', () => {
    const lock = { database: 'app', id: 1, table: 'public.users', mode: 'RowExclusiveLock' } as const;
    const counts = (old: number | undefined, now: number | undefined, areValuesCompared = false) => {
      const locks = [{ ...lock, from: 0, to: 1, statement: 0 }];
      const relation = (writes: number | undefined) => ({
        ...table,
        ...(writes !== undefined && { writes }),
      });
      return possibleLosses(
        { statements: [], locks, before: [relation(old)], after: [relation(now)] },
        { areValuesCompared },
      ).length;
    };
    assert.deepEqual([counts(3, 3), counts(3, 4)], [0, 1]);
    // A session that is still open may have changed others.
    assert.deepEqual([counts(3, undefined), counts(undefined, undefined)], [1, 1]);
    assert.equal(counts(3, 3, true), 1);
  });

  it('follows a column by its number, and one that replaced it by its name', () => {
    const renamed = {
      ...table,
      columns: { 1: { name: 'key', type: 'integer' }, 2: table.columns['2'] ?? assert.fail() },
    };
    assert.deepEqual(losses(table, renamed), []);
    const replaced = {
      ...table,
      columns: { 1: { name: 'id', type: 'integer' }, 3: { name: 'a"b', type: 'integer' } },
    };
    const [loss] = losses(table, replaced);
    assert.deepEqual(loss?.counted, [
      {
        database: 'app',
        tables: [1],
        name: 'public.users.a"b',
        column: 'a"b',
        kind: 'type',
        fate: 'replaced',
        types: 'text → integer',
      },
    ]);
    assert.match(loss.after[0] ?? '', /"a""b"::text/);
    const types = { 'same type': 'text', 'another type': 'integer' };
    for (const [title, type] of Object.entries(types)) {
      const columns = { 1: { name: 'id', type: 'integer' }, 3: { name: 'a"b', type } };
      const names = losses(table, { ...table, columns })
        .at(-1)
        ?.counted.map(({ name, kind }) => [name, kind]);
      assert.deepEqual(names?.at(-1), ['public.users.a"b', 'values'], title);
    }
  });

  it('names the table that has replaced one with the same name', () => {
    const [loss] = losses(table, { ...table, id: 2 });
    assert.deepEqual(
      loss?.counted.map(({ tables }) => tables),
      loss?.counted.map(() => [1, 2]),
    );
  });

  it('says only that a column has fewer values, not also that they changed', () => {
    const loss = {
      database: 'app',
      tables: [1],
      name: 'users.a',
      column: 'a',
      fate: 'kept' as const,
      count: 1,
    };
    const [values, type] = [
      { ...loss, kind: 'values' as const },
      { ...loss, kind: 'type' as const },
    ];
    assert.deepEqual(actualLosses([type, values]), [values]);
    assert.deepEqual(actualLosses([type, { ...values, count: 0 }]), [type]);
  });

  it('counts the values of a column that is gone', () => {
    const [loss] = losses(table, { ...table, columns: { 1: { name: 'id', type: 'integer' } } });
    assert.equal(loss?.before, 'select array[count("a""b")::text] as counts from only public.users');
    assert.deepEqual(
      lossesFromCounts(loss, ['7'], []).map(({ name, count }) => [name, count]),
      [['public.users.a"b', 7]],
    );
  });

  it('compares a table with the one that was made again under its name', () => {
    const [loss] = losses(table, { ...table, id: 2, file: 2 });
    assert.ok(loss);
    const counts = (...now: string[]) =>
      lossesFromCounts(loss, ['10', '10', '6'], now).map(({ count }) => count);
    assert.deepEqual(counts('10', '10', '6'), [0, 0, 0]);
    assert.deepEqual(counts('10', '10', '2'), [0, 0, 4]);
    assert.deepEqual(counts('9', '9', '2'), [1, 0, 0]);
    assert.deepEqual(counts('12', '12', '8'), [-2, 0, 0]);
  });

  it('compares the values of the same rows, if asked', () => {
    const [loss] = possibleLosses(
      { statements: [], locks: [], before: [table], after: [{ ...table, id: 2 }] },
      { areValuesCompared: true },
    );
    assert.ok(loss);
    assert.deepEqual(
      loss.counted.map(({ kind, types }) => [kind, types]),
      [['rows'], ['values'], ['values'], ['type'], ['type']].map(([kind]) => [kind, undefined]),
    );
    const counts = (...now: string[]) =>
      lossesFromCounts(loss, ['10', '10', '6', '123', '456'], now).map(({ count }) => count);
    assert.deepEqual(counts('10', '10', '6', '123', '456'), [0, 0, 0, 0, 0]);
    assert.deepEqual(counts('10', '10', '6', '123', '9'), [0, 0, 0, 0, 1]);
    assert.deepEqual(counts('9', '9', '6', '7', '9'), [1, 0, 0, 0, 0]);
    assert.deepEqual(counts('11', '11', '6', '7', '9'), [-1, 0, 0, 0, 0]);
  });
});
