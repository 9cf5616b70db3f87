import assert from 'node:assert/strict';
import { Markers } from '../../../../src/extension/history/markers.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

const ref = { account: 'a', projectId: 'shop', branchId: 'br-main' };

describe('Markers', () => {
  let memory: MemoryMap;
  let now: number;
  const errors: unknown[] = [];
  const markers = () => new Markers(memory, { onError: (error) => errors.push(error), now: () => now });

  beforeEach(() => {
    memory = new MemoryMap();
    now = Date.UTC(2026, 10, 26, 14, 32);
    errors.length = 0;
  });

  it('are of one branch, the newest first, for all windows', () => {
    markers().add(ref, { kind: 'program', text: 'prisma migrate dev' });
    now += 1000;
    markers().add(ref, { kind: 'agent', text: 'DROP TABLE a', by: 'claude' });
    markers().add({ ...ref, branchId: 'br-other' }, { kind: 'program', text: 'other' });
    assert.deepEqual(
      markers()
        .ofBranch(ref)
        .map(({ text, by, time }) => [text, by, time]),
      [
        ['DROP TABLE a', 'claude', '2026-11-26T14:32:01.001Z'],
        ['prisma migrate dev', undefined, '2026-11-26T14:32:00.001Z'],
      ],
    );
  });

  it('mark a turn once for each branch, also if several hooks do', () => {
    const turn = { kind: 'agent', text: '', by: 'copilot-cli', turn: 'session 1' } as const;
    const texts = (of = ref) =>
      markers()
        .ofBranch(of)
        .map(({ turn: marked }) => marked);
    for (const branchId of ['br-main', 'br-main', 'br-other']) markers().add({ ...ref, branchId }, turn);
    markers().add(ref, { ...turn, turn: 'session 2' });
    markers().add(ref, { ...turn, turn: undefined });
    markers().add(ref, { ...turn, turn: undefined });
    assert.deepEqual(texts(), [undefined, undefined, 'session 2', 'session 1']);
    assert.deepEqual(texts({ ...ref, branchId: 'br-other' }), ['session 1']);
  });

  it('move with the data and history to the branch that an undo preserves', () => {
    markers().add(ref, { kind: 'program', text: 'migrate' });
    markers().addUndo(ref, { id: 'br-kept', name: 'before-undo' }, now);
    assert.deepEqual(
      markers()
        .ofBranch(ref)
        .map(({ kind, text, preserved }) => [kind, text, preserved]),
      [['undo', 'before-undo', 'br-kept']],
    );
    assert.deepEqual(
      markers()
        .ofBranch({ ...ref, branchId: 'br-kept' })
        .map(({ text }) => text),
      ['migrate'],
    );
  });

  it('are bounded, for each branch and in all', () => {
    for (let number = 0; number < 50; number += 1)
      markers().add(ref, { kind: 'program', text: `${number}`.padStart(300, '0') });
    const kept = markers().ofBranch(ref);
    assert.equal(kept.length, 40);
    assert.equal(kept[0]?.text.length, 120);
    for (let branch = 0; branch < 30; branch += 1)
      for (let number = 0; number < 30; number += 1)
        markers().add({ ...ref, branchId: `br-${branch}` }, { kind: 'program', text: `${number}` });
    const all = [...memory.entries.values()].flat();
    assert.equal(all.length, 400);
  });

  it('of the user stay, however many an agent adds', () => {
    markers().add(ref, { kind: 'mark', text: 'before the clean-up' });
    markers().addUndo({ ...ref, branchId: 'br-other' }, { id: 'br-kept', name: 'before-undo' }, now);
    for (let branch = 0; branch < 15; branch += 1)
      for (let number = 0; number < 40; number += 1)
        markers().add({ ...ref, branchId: `br-${branch}` }, { kind: 'agent', text: 'INSERT', by: 'claude' });
    for (let number = 0; number < 40; number += 1)
      markers().add(ref, { kind: 'agent', text: 'INSERT', by: 'claude' });
    assert.deepEqual(
      markers()
        .ofBranch(ref)
        .slice(39)
        .map(({ text }) => text),
      ['INSERT', 'before the clean-up'],
    );
    assert.equal(markers().ofBranch({ ...ref, branchId: 'br-other' })[0]?.preserved, 'br-kept');
  });

  it('never fail what they mark, and skip damaged entries', () => {
    memory.entries.set('hostedPostgres.markers', [{ kind: 'program' }, null, 3]);
    assert.deepEqual(markers().ofBranch(ref), []);
    memory.change = () => {
      throw new Error('disk full');
    };
    markers().add(ref, { kind: 'program', text: 'migrate' });
    assert.equal(errors.length, 1);
  });
});
