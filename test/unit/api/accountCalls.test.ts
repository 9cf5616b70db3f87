import assert from 'node:assert/strict';
import { isRejected } from '../../../src/api/errors.ts';
import { withService } from './stubService.ts';

describe('AccountCalls', () => {
  for (const [method, kind] of [
    ['api_key_user', 'personal'],
    ['api_key_org', 'organization'],
    ['oauth', undefined],
  ] as const)
    it(`findKeyKind returns ${kind} for ${method}`, () =>
      withService(
        () => ({ json: { account_id: 'a', auth_method: method } }),
        async (client, seen) => {
          assert.equal(await client.account.findKeyKind(), kind);
          assert.deepEqual(
            seen.map(({ path }) => path),
            ['/auth'],
          );
        },
      ));

  it('findOrganizations returns the id and name of each', () =>
    withService(
      () => ({ json: { organizations: [{ id: 'org-a-1', name: 'A', plan: 'x' }, { id: '../x' }] } }),
      async (client, seen) => {
        const organizations = await client.account.findOrganizations();
        assert.deepEqual(
          organizations?.map(({ id, name }) => [id, name]),
          [['org-a-1', 'A']],
        );
        assert.equal(seen[0]?.path, '/users/me/organizations');
      },
    ));

  it('throws other errors', () =>
    withService(
      () => ({ status: 401, json: { message: 'no' } }),
      async (client) => await assert.rejects(client.account.findKeyKind(), (error) => isRejected(error, 401)),
    ));
});
