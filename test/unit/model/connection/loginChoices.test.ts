import assert from 'node:assert/strict';
import { loginChoices, isInCatalog } from '../../../../src/model/connection/loginChoices.ts';

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
