import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { scramVerifier } from '../../../../../src/service/postgres/roles/logins.ts';
import { RolePasswords } from '../../../../../src/service/postgres/roles/rolePasswords.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

describe('RolePasswords', () => {
  const rolesWith = (password: string): RolePasswords => {
    const passwords = new RolePasswords(temporaryFolder());
    passwords.confirm(new Map([['reader', password]]));
    return passwords;
  };

  it('finds the password that Postgres has until a planned one is set', () => {
    const passwords = rolesWith('old');
    const wanted = new Map([['reader', 'new']]);
    passwords.plan(wanted);
    assert.equal(passwords.find('reader', scramVerifier('old')), 'old');
    assert.deepEqual(passwords.planned, wanted);
    passwords.confirm(wanted);
    assert.deepEqual([passwords.planned.size, passwords.all.get('reader')], [0, 'new']);
  });

  it('plans nothing that is so already', () => {
    const passwords = rolesWith('same');
    passwords.plan(rolesWith('same').all);
    assert.equal(passwords.planned.has('reader'), false);
  });

  it('keeps what is planned if the service ends before, and the data are copied again', () => {
    const [target, copy, nextCopy] = [
      rolesWith('own'),
      rolesWith('of the parent'),
      rolesWith('of the parent'),
    ];
    copy.plan(target.all);
    nextCopy.plan(copy.all);
    assert.equal(nextCopy.planned.get('reader'), 'own');
  });

  it('finds what was given later in the millisecond of a commit, which has microseconds', () => {
    mock.timers.enable({ apis: ['Date'], now: 5000 });
    const passwords = rolesWith('new');
    mock.timers.reset();
    const roles = (time: number) => [...passwords.changedSince(time).keys()];
    assert.deepEqual([roles(5000.3), roles(5001)], [['reader'], []]);
  });

  it('counts a password as given when Postgres has it', async () => {
    mock.timers.enable({ apis: ['Date'], now: 5000 });
    try {
      const passwords = new RolePasswords(temporaryFolder());
      await passwords.change('reader', null, async () => mock.timers.tick(20));
      assert.deepEqual([...passwords.changedSince(5010).keys()], ['reader']);
      const { createdAt, updatedAt } = passwords.timestampsOf('reader');
      assert.equal(createdAt, updatedAt);
      const verifier = scramVerifier(passwords.all.get('reader') ?? '');
      await passwords.change('reader', verifier, async () => mock.timers.tick(20));
      assert.equal(passwords.timestampsOf('reader').createdAt, createdAt);
      assert.deepEqual([...passwords.changedSince(5030).keys()], ['reader']);
    } finally {
      mock.timers.reset();
    }
  });
});
