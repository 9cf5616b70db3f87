import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import {
  ConnectionDefaults,
  LOCAL_ROLE_AND_DATABASE,
  loginChoices,
  isInCatalog,
} from '../../../../src/extension/connection/connectionDefaults.ts';
import { BRANCH_DATABASE, BRANCH_ROLE } from '../../../../src/service/postgres/roles/logins.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

const nothing = { role: '', database: '' };
const at = (isNear: boolean, memory = new MemoryMap(), accountId = 'work') =>
  new ConnectionDefaults({ connection: { isLocal: isNear, accountId } as AccountConnection }, memory);

describe('ConnectionDefaults', () => {
  it('offers what was last used for the project, also in the next window', async () => {
    const memory = new MemoryMap();
    await at(false, memory).remember('shop', { role: 'old', database: 'old' });
    await at(false, memory).remember('shop', { role: 'owner', database: 'orders' });
    assert.deepEqual(at(false, memory).propose('shop', nothing), { role: 'owner', database: 'orders' });
    assert.deepEqual(at(false, memory).propose('other', nothing), nothing);
    assert.deepEqual(at(false, memory).propose(undefined, nothing), nothing);
  });

  it('offers nothing of a project with the same id in another account', async () => {
    const memory = new MemoryMap();
    const own = { role: 'owner', database: 'orders' };
    await at(false, memory).remember('shop', { ...own, pooled: true });
    const other = at(false, memory, 'test');
    assert.deepEqual([other.propose('shop', nothing), other.prefersPooled('shop')], [nothing, false]);
    await other.remember('shop', { role: 'other', database: 'other' });
    assert.deepEqual(at(false, memory).propose('shop', nothing), own);
  });

  it('prefers the pooled host only if it was the last choice for the project', async () => {
    const logins = at(false);
    assert.equal(logins.prefersPooled('shop'), false);
    await logins.remember('shop', { role: 'owner', database: 'orders', pooled: true });
    assert.equal(logins.prefersPooled('shop'), true);
    await logins.remember('shop', { role: 'owner', database: 'orders', pooled: false });
    assert.equal(logins.prefersPooled('shop'), false);
  });

  it('prefers each setting of the user', async () => {
    const logins = at(false);
    await logins.remember('shop', { role: 'owner', database: 'orders' });
    const proposed = logins.propose('shop', { role: 'reader', database: '' });
    assert.deepEqual(proposed, { role: 'reader', database: 'orders' });
  });

  it('offers the role and database of the local service', () => {
    assert.deepEqual(at(true).propose('shop', nothing), { role: BRANCH_ROLE, database: BRANCH_DATABASE });
    assert.deepEqual(at(true).propose(undefined, nothing), LOCAL_ROLE_AND_DATABASE);
  });

  it('keeps fifty projects and forgets the least recently used one', async () => {
    const memory = new MemoryMap();
    const logins = at(false, memory);
    for (let number = 0; number <= 50; number += 1)
      await logins.remember(`project-${number}`, { role: `role-${number}`, database: 'app' });
    assert.equal(logins.propose('project-0', nothing).role, '');
    assert.equal(logins.propose('project-1', nothing).role, 'role-1');
    assert.equal(logins.propose('project-50', nothing).role, 'role-50');
  });

  it('remembers other projects next to a changed one', async () => {
    const defaults = at(false);
    await defaults.remember('shop', { role: 'owner', database: 'orders' });
    await defaults.remember('blog', { role: 'editor', database: 'posts' });
    await defaults.remember('blog', { role: 'reader', database: 'posts' });
    assert.deepEqual(defaults.propose('shop', nothing), { role: 'owner', database: 'orders' });
    assert.deepEqual(defaults.propose('blog', nothing), { role: 'reader', database: 'posts' });
  });

  it('remembers the format of the last copy', async () => {
    const memory = new MemoryMap();
    assert.equal(at(false, memory).format, undefined);
    await at(false, memory).rememberFormat('jdbc');
    assert.equal(at(false, memory).format, 'jdbc');
  });

  it('ignores invalid entries', async () => {
    const memory = new MemoryMap();
    await memory.update('hostedPostgres.logins', [null, { projectId: 'shop', role: 1 }, 'shop']);
    assert.deepEqual(at(false, memory).propose('shop', nothing), nothing);
    await memory.update('hostedPostgres.logins', { shop: 'odd' });
    assert.deepEqual(at(false, memory).propose('shop', nothing), nothing);
  });
});

const catalog = {
  databases: [
    { name: 'app', owner_name: 'app_owner' },
    { name: 'logs', owner_name: 'team' },
    { name: 'shop', owner_name: 'shop_owner' },
  ],
  roles: [
    { name: 'app_owner' },
    { name: 'shop_owner', authentication_method: 'password' },
    { name: 'team', authentication_method: 'no_login' },
  ],
};
const none = { role: '', database: '' };
const choose = (proposed = none, canBePooled = false, prefersPooled = false): string[] =>
  loginChoices(catalog, { proposed, canBePooled, prefersPooled }).map(
    ({ role, database, pooled }) => `${database} ${role}${pooled ? ' pooled' : ''}`,
  );

describe('loginChoices', () => {
  it('offers each database with its owner, or with a role that can log in', () => {
    assert.deepEqual(choose(), ['app app_owner', 'logs app_owner', 'shop shop_owner']);
  });

  it('offers the database and role last used first', () => {
    assert.equal(choose({ role: 'shop_owner', database: 'shop' })[0], 'shop shop_owner');
    assert.deepEqual(choose({ role: 'app_owner', database: 'shop' }), [
      'shop app_owner',
      'shop shop_owner',
      'app app_owner',
      'logs app_owner',
    ]);
  });

  it('ignores what the branch does not have', () => {
    assert.deepEqual(choose({ role: 'gone', database: 'gone' }), choose());
    assert.equal(choose({ role: 'team', database: 'app' })[0], 'app app_owner');
  });

  it('offers both hosts of each, the one last used first', () => {
    assert.deepEqual(choose(none, true).slice(0, 2), ['app app_owner', 'app app_owner pooled']);
    assert.deepEqual(choose(none, true, true).slice(0, 2), ['app app_owner pooled', 'app app_owner']);
  });

  it('is empty without a role that can log in', () => {
    assert.deepEqual(
      loginChoices({ ...catalog, roles: [] }, { proposed: none, canBePooled: true, prefersPooled: false }),
      [],
    );
  });
});

describe('isInCatalog', () => {
  it('is true only if the branch has both', () => {
    assert.ok(isInCatalog(catalog, { role: 'team', database: 'app' }));
    assert.ok(!isInCatalog(catalog, { role: 'team', database: 'gone' }));
    assert.ok(!isInCatalog(catalog, { role: 'gone', database: 'app' }));
  });
});
