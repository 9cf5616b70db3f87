import assert from 'node:assert/strict';
import { baseUrlOrUndefined } from '../../../../src/api/baseUrl.ts';
import { AccountConnection } from '../../../../src/model/account/accountConnection.ts';
import { guardOf, Guards, stableAccountId, type Marks } from '../../../../src/model/account/guards.ts';

const baseUrl = baseUrlOrUndefined('https://a.example/v2');
assert.ok(baseUrl);
const work = { baseUrl, name: 'work' };
const isProtected = { protected: true };

describe('guardOf', () => {
  const rows = [
    [undefined, undefined, undefined, undefined],
    [undefined, undefined, {}, undefined],
    [undefined, undefined, isProtected, 'production'],
    [undefined, 'production', undefined, 'production'],
    ['production', undefined, undefined, 'production'],
    ['readOnly', 'production', isProtected, 'readOnly'],
    ['production', 'readOnly', undefined, 'readOnly'],
  ] as const;
  for (const [account, project, branch, expected] of rows)
    it(`is ${expected} for ${[account, project, JSON.stringify(branch)].join(', ')}`, () =>
      assert.equal(guardOf(account, project, branch), expected));
});

describe('Guards', () => {
  const guardsWith = (marks: Marks, branch: { readonly protected?: boolean } = {}) => {
    let isLoaded = false;
    const branches = {
      get: () => (isLoaded ? branch : undefined),
      isKnown: () => isLoaded,
      async refresh() {
        isLoaded = true;
        return await Promise.resolve(undefined);
      },
    };
    const inventory = { branches, compute: () => undefined, refreshComputes: () => Promise.resolve() };
    const connection = new AccountConnection(work, 'key', () => Promise.reject(new Error('not used')));
    const onDidChangeMarks = () => ({ dispose: () => undefined });
    return new Guards({ connection, requireSameAccount: () => undefined }, inventory, {
      marks,
      onDidChangeMarks,
    });
  };

  it('find out whether the branch is protected before a change', async () => {
    const guards = guardsWith({}, isProtected);
    const target = { projectId: 'shop', branchId: 'br-main' };
    assert.equal(guards.known(target), undefined);
    assert.equal(guards.isProtectionKnown(target), false);
    await guards.refreshProtection(target);
    assert.equal(guards.isProtectionKnown(target), true);
    assert.equal(guards.known(target), 'production');
  });

  it('find out whether the branch is protected that a compute is moved to', () => {
    const branches = {
      get: (_: string, id: string) => ({ protected: id === 'br-main' }),
      isKnown: () => true,
      refresh: async () => undefined,
    };
    const inventory = { branches, compute: () => undefined, refreshComputes: () => Promise.resolve() };
    const onDidChangeMarks = () => ({ dispose: () => undefined });
    const guards = new Guards({ connection: undefined, requireSameAccount: () => undefined }, inventory, {
      marks: {},
      onDidChangeMarks,
    });
    const compute = { projectId: 'shop', branchId: 'br-dev' };
    assert.equal(guards.known({ ...compute, toBranchId: 'br-qa' }), undefined);
    assert.equal(guards.known({ ...compute, toBranchId: 'br-main' }), 'production');
  });

  it('count the marks of the account for its projects and keys', () => {
    const guards = guardsWith({ 'https://a.example/v2#work': 'readOnly' });
    assert.equal(guards.known({}), 'readOnly');
    assert.equal(guards.known({ projectId: 'shop' }), 'readOnly');
  });

  it('count the mark of a project for that project only', () => {
    const guards = guardsWith({ shop: 'production' });
    assert.equal(guards.known({}), undefined);
    assert.equal(guards.known({ projectId: 'shop' }), 'production');
    assert.equal(guards.known({ projectId: 'other' }), undefined);
  });

  it('know the local service without its address', () => {
    assert.equal(stableAccountId({ ...work, local: true }), 'local');
  });
});
