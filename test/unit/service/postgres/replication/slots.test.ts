import assert from 'node:assert/strict';
import { slotProblem } from '../../../../../src/service/postgres/replication/slots.ts';

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
