import assert from 'node:assert/strict';
import type { SchemaChange } from '../../../../src/api/records/records.ts';
import type { GitEvent } from '../../../../src/extension/history/headLog.ts';
import type { Marker } from '../../../../src/extension/history/markers.ts';
import {
  earliestMoment,
  listMoments,
  restoreSourceAt,
  type BranchHistory,
  type Moment,
} from '../../../../src/extension/history/moments.ts';
import { parentRequestFields } from '../../../../src/extension/account/refs.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 26, 14, 32);
const ref = { account: 'a', projectId: 'shop', branchId: 'br-main' };
/** Minutes ago. */
const at = (minutes: number) => new Date(NOW - minutes * MINUTE).toISOString();

const marker = (branchId: string, minutes: number, fields: Partial<Marker> = {}): Marker => ({
  ...ref,
  branchId,
  time: at(minutes),
  kind: 'program',
  text: `program ${minutes}`,
  ...fields,
});
const agent = (minutes: number, by = 'claude') =>
  marker('br-main', minutes, { kind: 'agent', by, text: `sql ${minutes}` });
const turn = (minutes: number) => marker('br-main', minutes, { kind: 'agent', by: 'claude', text: '' });
const undo = (branchId: string, minutes: number, preserved: string) =>
  marker(branchId, minutes, { kind: 'undo', text: `kept ${minutes}`, preserved });
const commit = (minutes: number): GitEvent => ({
  kind: 'commit',
  time: NOW - minutes * MINUTE,
  commit: '3f2a1c0',
  text: `commit ${minutes}`,
  gitBranch: 'main',
});

const schemaChange = (minutes: number, count: number, lsn?: string): SchemaChange => ({
  before: at(minutes).replace('Z', '123Z'),
  lsn,
  created: count,
  altered: 0,
  dropped: 0,
  truncated: 0,
  migrations: 0,
});

interface Facts {
  readonly schemaChanges?: readonly SchemaChange[];
  readonly markers?: readonly Marker[];
  readonly gitEvents?: readonly GitEvent[];
  readonly retention?: number;
  readonly hasFirstMoment?: boolean;
  /** For each branch: minutes ago that it was created. */
  readonly created?: Readonly<Record<string, number>>;
}

const history = ({
  markers = [],
  gitEvents = [],
  schemaChanges = [],
  retention,
  hasFirstMoment = false,
  created = {},
}: Facts): BranchHistory => ({
  ref,
  now: NOW,
  retention,
  markersOf: (branchId) =>
    markers
      .filter((each) => each.branchId === branchId)
      .toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time)),
  startOf: (branchId) => {
    const minutes = { 'br-main': 1000, 'br-a': 0, 'br-b': 0, ...created }[branchId];
    return minutes === undefined ? undefined : NOW - minutes * MINUTE;
  },
  createdAt: NOW - (created['br-main'] ?? 1000) * MINUTE,
  hasFirstMoment,
  gitEvents,
  schemaChanges,
});

const nameOf = (moment: Moment): string => {
  if (moment.kind === 'undo') return moment.name;
  if (moment.kind === 'schema')
    return moment.deleted ? `${moment.deleted} deleted` : `${moment.created} created`;
  if (moment.kind === 'created') return moment.kind;
  if (moment.kind === 'ago') return `${moment.seconds / 60} min`;
  return moment.kind === 'agent' && moment.changes > 1 ? `${moment.text} (${moment.changes})` : moment.text;
};
/** Names, with the branch that has the data if it is another one. */
const shown = (facts: Facts) =>
  listMoments(history(facts)).map((moment) => {
    const { branchId } = moment.source;
    return branchId === 'br-main' ? nameOf(moment) : `${nameOf(moment)} of ${branchId}`;
  });

describe('The moments of Undo', () => {
  it('contain what the user has named, however much has happened since', () => {
    const gitEvents = Array.from({ length: 60 }, (_, minutes) => commit(minutes));
    const found = shown({ gitEvents, markers: [marker('br-main', 500, { kind: 'mark', text: 'clean-up' })] });
    assert.deepEqual([found.length, found.at(-1)], [51, 'clean-up']);
  });

  const rows: readonly (readonly [title: string, facts: Facts, expected: readonly string[]])[] = [
    ['are round times if nothing is known', {}, ['1 min', '5 min', '60 min']],
    [
      'are sorted by time, the newest first',
      { markers: [marker('br-main', 2), marker('br-main', 30)], gitEvents: [commit(10), commit(90)] },
      ['1 min', 'program 2', '5 min', 'commit 10', 'program 30', '60 min', 'commit 90'],
    ],
    [
      'have the changes of the schema in the time of the branch, unless a marker names them',
      {
        schemaChanges: [700, 90, 30.1, 30, 10].map((minutes) => schemaChange(minutes, minutes)),
        markers: [marker('br-main', 30.05), marker('br-main', 10.2)],
        created: { 'br-main': 600 },
      },
      [
        '1 min',
        '5 min',
        '10 created',
        'program 10.2',
        'program 30.05',
        '30.1 created',
        '60 min',
        '90 created',
      ],
    ],
    [
      'have changes of the schema from before an undo in the branch with that data',
      {
        schemaChanges: [schemaChange(30, 1)],
        markers: [undo('br-main', 20, 'br-a')],
      },
      ['kept 20 of br-a', '1 min', '5 min', '1 created of br-a', '60 min of br-a'],
    ],
    ['are empty without history', { markers: [marker('br-main', 8)], retention: 0 }, []],
    [
      'begin with the branch',
      { gitEvents: [commit(4), commit(90)], created: { 'br-main': 7 } },
      ['1 min', 'commit 4', '5 min'],
    ],
    [
      'have the beginning of the work of an agent, and each of its changes',
      { markers: [agent(2), agent(3), agent(12), agent(40), agent(41, 'codex'), agent(42)] },
      ['1 min', 'sql 2', 'sql 3', '5 min', 'sql 12 (3)', 'sql 40', 'sql 41', 'sql 42', '60 min'],
    ],
    [
      'have the beginnings of turns of an agent, each of which begins its work',
      { markers: [agent(2), turn(3), agent(12), agent(13), turn(14)] },
      ['1 min', 'sql 2', ' (2)', '5 min', 'sql 12', 'sql 13', ' (3)', '60 min'],
    ],
    [
      'begin with the one that undoes the last undo, and are of the branch with the data from before it',
      { markers: [undo('br-main', 20, 'br-a'), marker('br-main', 10), marker('br-a', 30)] },
      ['kept 20 of br-a', '1 min', '5 min', 'program 10', 'program 30 of br-a', '60 min of br-a'],
    ],
    [
      'begin with the branch, also before an undo',
      {
        markers: [undo('br-main', 20, 'br-a'), marker('br-a', 25), marker('br-a', 35)],
        created: { 'br-main': 30 },
      },
      ['kept 20 of br-a', '1 min', '5 min', 'program 25 of br-a'],
    ],
    [
      'are as old as the history if an undo has created the branch again',
      { markers: [undo('br-main', 20, 'br-a')], created: { 'br-main': 19 } },
      ['kept 20 of br-a', '1 min', '5 min', '60 min of br-a'],
    ],
    [
      'follow several undos',
      {
        markers: [
          undo('br-main', 3, 'br-a'),
          undo('br-a', 20, 'br-b'),
          marker('br-a', 10),
          marker('br-b', 30),
        ],
        gitEvents: [commit(25)],
      },
      [
        'kept 3 of br-a',
        '1 min',
        '5 min of br-a',
        'program 10 of br-a',
        'kept 20 of br-b',
        'commit 25 of br-b',
        'program 30 of br-b',
        '60 min of br-b',
      ],
    ],
    [
      'end with the last undo if what it has kept was deleted',
      { markers: [undo('br-main', 20, 'br-gone'), marker('br-gone', 30), marker('br-main', 10)] },
      ['1 min', '5 min', 'program 10'],
    ],
  ];
  it('have the first moment of a branch as long as its history is kept, also after an undo, on services that restore it', () => {
    const created = { 'br-main': 30 };
    assert.deepEqual(shown({ created }), ['1 min', '5 min']);
    const hasFirstMoment = true;
    assert.deepEqual(shown({ created, hasFirstMoment }), ['1 min', '5 min', 'created']);
    const undone = { created, hasFirstMoment, markers: [undo('br-main', 20, 'br-a')] };
    assert.deepEqual(shown(undone), ['kept 20 of br-a', '1 min', '5 min', 'created of br-a']);
    assert.deepEqual(shown({ created, hasFirstMoment, retention: 600 }), ['1 min', '5 min']);
  });

  for (const [title, facts, expected] of rows) it(title, () => assert.deepEqual(shown(facts), expected));

  it('begin with the retention', () => {
    const facts = { markers: [marker('br-main', 8), marker('br-main', 11)], gitEvents: [commit(90)] };
    assert.deepEqual(shown({ ...facts, retention: 600 }), ['1 min', '5 min', 'program 8']);
  });

  it('have the positions of changes of the schema, also of those for which the clock was wrong', () => {
    const changes = [
      schemaChange(700, 1, '0/1'),
      schemaChange(90, 2, '0/2'),
      schemaChange(-180, 3, '0/3'),
      schemaChange(700, 4, '0/4'),
      schemaChange(-180, 5),
    ];
    const facts = {
      schemaChanges: changes,
      created: { 'br-main': 600 },
      markers: [undo('br-main', 20, 'br-a')],
    };
    const found = listMoments(history(facts)).flatMap(({ kind, source }) =>
      kind === 'schema' ? [source] : [],
    );
    const own = [changes[2], changes[1], changes[3]].map((change) => ({
      branchId: 'br-main',
      at: { lsn: change?.lsn, timestamp: change?.before },
    }));
    assert.deepEqual(found, own);
    assert.deepEqual(found.map(parentRequestFields), [
      { parent_id: 'br-main', parent_lsn: '0/3' },
      { parent_id: 'br-main', parent_lsn: '0/2' },
      { parent_id: 'br-main', parent_lsn: '0/4' },
    ]);
  });

  it('have the exact time of a marker, and the head of a branch that an undo has kept', () => {
    const [first, ...others] = listMoments(
      history({ markers: [undo('br-main', 20, 'br-a'), marker('br-main', 1)] }),
    );
    assert.deepEqual(first?.source, { branchId: 'br-a' });
    assert.deepEqual(others[0]?.source, { branchId: 'br-main', at: { timestamp: at(1) } });
  });

  it('are found by time, and an LSN is of the branch itself', () => {
    const known = history({ markers: [undo('br-main', 20, 'br-a')], retention: 50 * 60 });
    const sourceOf = (minutes: number) => restoreSourceAt(known, { timestamp: at(minutes) }).branchId;
    assert.deepEqual([19, 20, 21].map(sourceOf), ['br-main', 'br-main', 'br-a']);
    assert.equal(restoreSourceAt(known, { lsn: '0/1' }).branchId, 'br-main');
    assert.equal(earliestMoment(known), NOW - 50 * MINUTE);
  });
});
