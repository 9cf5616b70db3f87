import assert from 'node:assert/strict';
import { countIdle, slotProblem } from '../../../../../src/service/postgres/replication/slots.ts';

const MB = 1024 ** 2;

describe('slotProblem', () => {
  const slot = { name: 'mine', active: false, isLost: false };

  it('names a slot that keeps more than 1 GB, and the command that drops it', () => {
    assert.equal(slotProblem({ ...slot, kept: 1024 * MB }, true), undefined);
    const text = slotProblem({ ...slot, kept: 1025 * MB }, true) ?? '';
    assert.match(text, /slot mine, which keeps 1025 MB .*pg_recvlogical --drop-slot --slot=mine$/);
  });

  it('names one that keeps any log before the disk is full', () => {
    assert.match(slotProblem({ ...slot, kept: 16 * MB }, false) ?? '', /keeps 16 MB of log on the disk/);
    assert.equal(slotProblem({ ...slot, kept: 0 }, false), undefined);
  });

  it('names one that is lost, whose program must begin again', () => {
    assert.match(slotProblem({ ...slot, isLost: true, kept: null }, true) ?? '', /mine is lost.* new copy/);
  });
});

describe('countIdle', () => {
  const slot = { name: 'mine', active: false, isLost: false, kept: 0, position: '0/1' };
  const before = { mine: { position: '0/1', since: '1000', seconds: 60 } };
  const secondsWith = (since: string, isRestored: boolean | null) =>
    countIdle([{ ...slot, since, isRestored }], before, 5).get('mine')?.seconds;

  it('counts on after a start of the server, also just after it', () => {
    assert.equal(secondsWith('1000', false), 65);
    assert.equal(secondsWith('2000', true), 65);
    assert.equal(secondsWith('2000', null), 65);
  });

  it('begins again when a program has read the slot', () => {
    assert.equal(secondsWith('2000', false), 0);
  });
});
