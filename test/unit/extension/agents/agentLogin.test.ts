import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import { requireLoginRole } from '../../../../src/extension/agents/agentLogin.ts';

describe('The login of an agent', () => {
  /** Undefined if the service doesn't list them. */
  let databases: readonly { readonly name: string; readonly owner_name: string }[] | undefined;
  let roles: readonly { readonly name: string; readonly authentication_method?: string }[] | undefined;

  const find = (database?: string, isLocal = false) => {
    const { signal } = new AbortController();
    const client = { listDatabases: async () => databases, listRoles: async () => roles };
    const connection = { isLocal, signal, client: async () => client } as unknown as AccountConnection;
    return requireLoginRole({ connection, projectId: 'shop', branchId: 'br-a', database, signal });
  };

  beforeEach(() => {
    databases = [
      { name: 'analytics', owner_name: 'analyst' },
      { name: 'app', owner_name: 'app_owner' },
    ];
    roles = [{ name: 'app_owner' }, { name: 'analyst' }];
  });

  it('is to the first database, or to the usual one of the local service', async () => {
    const analytics = { role: 'analyst', database: 'analytics' };
    assert.deepEqual(await find(), analytics);
    assert.deepEqual(await find('', true), { role: 'app_owner', database: 'app' });
    databases = databases?.slice(0, 1);
    assert.deepEqual(await find(undefined, true), analytics);
  });

  it('is to the database that the agent names, as its owner or another role', async () => {
    assert.deepEqual(await find('app'), { role: 'app_owner', database: 'app' });
    roles = [{ name: 'app_owner', authentication_method: 'no_login' }, { name: 'analyst' }];
    assert.deepEqual(await find('app'), { role: 'analyst', database: 'app' });
  });

  it('names the databases of a branch that lacks one', async () => {
    await assert.rejects(find('x'), { message: 'br-a has no database x. It has: analytics, app' });
    databases = undefined;
    await assert.rejects(find(), { message: 'br-a has no database. It has: none' });
    roles = undefined;
    await assert.rejects(find('app'), { message: 'br-a has no database app. It has: none' });
  });
});
