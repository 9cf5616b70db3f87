import { quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { POSTGRES_MISSING } from '../../../../../src/api/transport/errors.ts';
import type { AccountConnection } from '../../../../../src/extension/account/accountConnection.ts';
import { ConnectionDefaults } from '../../../../../src/extension/connection/connectionDefaults.ts';
import type { Config } from '../../../../../src/extension/window/ui/config.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { CodedError, computeRecord, type Script } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { offersFix } = await import('../../../../../src/extension/window/ui/errorMessage.ts');
const { askForLogin, proposedOrChosenLogin, proposedLogin, loadRolesAndDatabases } =
  await import('../../../../../src/extension/connection/commands/login.ts');

const used = { role: 'owner', database: 'orders' };
const withCatalog =
  (databases: readonly string[], roles: readonly string[]): Script =>
  (call) =>
    call.endsWith('/roles')
      ? { roles: roles.map((name) => ({ name })) }
      : { databases: databases.map((name) => ({ name, owner_name: 'owner' })) };
const singleChoice = withCatalog(['app'], ['owner']);
const twoRoles = withCatalog(['app'], ['owner', 'reader']);
const twoDatabases = withCatalog(['first', 'orders'], ['owner']);

describe('askForLogin and knownLogin', () => {
  let store: ScriptedModel;
  let connectionDefaults: ConnectionDefaults;

  beforeEach(async () => {
    store = await connectScripted(singleChoice);
    const session = { connection: { isLocal: false } as AccountConnection };
    connectionDefaults = new ConnectionDefaults(session, new MemoryMap());
  });

  const config = { configuredLogin: () => ({ role: '', database: '' }) } as unknown as Config;
  const context = () => ({ ...store, connectionDefaults, config });
  const request = (host = 'ep-a.example.test') => ({
    title: 'Test',
    compute: computeRecord('ep-a', { host }),
    scope: undefined,
    allowsPooled: true,
  });
  const find = (host?: string) => proposedOrChosenLogin(context(), request(host));

  it('ask nothing for a single database, role and host', async () => {
    const only = { role: 'owner', database: 'app', pooled: false };
    assert.deepEqual(await askForLogin(context(), request('127.0.0.1:15432')), only);
    assert.deepEqual(await askForLogin(context(), { ...request(), allowsPooled: false }), only);
  });

  for (const [what, host, script] of [
    ['another host', undefined, singleChoice],
    ['another database', '127.0.0.1:15432', twoDatabases],
    ['another role', '127.0.0.1:15432', twoRoles],
  ] as const)
    it(`ask if there is ${what}`, async () => {
      store.service.script = script;
      const login = askForLogin(context(), request(host));
      const question = await until('a question', async () => quickPicks[0]);
      question.cancel();
      assert.equal(await login, undefined);
    });

  it('takes the only database and its owner', async () => {
    assert.deepEqual(await proposedOrChosenLogin(context(), { ...request(), allowsPooled: false }), {
      role: 'owner',
      database: 'app',
      pooled: false,
    });
  });

  it('takes what was used before, if the branch has it', async () => {
    await connectionDefaults.remember('shop', used);
    store.service.script = twoDatabases;
    assert.deepEqual(await find(), { ...used, pooled: false });
  });

  it('takes the first database of a branch on this machine', async () => {
    store.service.script = twoDatabases;
    assert.deepEqual(await find('127.0.0.1:15432'), { role: 'owner', database: 'first', pooled: false });
  });

  for (const status of [403, 404, 405, 409]) {
    it(`takes what was used before if the lists cannot be had (${status})`, async () => {
      await connectionDefaults.remember('shop', used);
      store.service.script = () => status;
      assert.equal(await loadRolesAndDatabases(context(), request()), undefined);
      assert.deepEqual(await find(), { ...used, pooled: false });
    });
  }

  it('asks for no names of a compute that was deleted', async () => {
    store.service.script = (call) => (call.endsWith('/endpoints') ? { endpoints: [] } : 404);
    let failure: unknown;
    askForLogin(context(), request()).catch((error: unknown) => (failure = error));
    await until('an error or a question', async () => failure ?? quickPicks[0]);
    assert.match(String(failure), /ep-a no longer exists/);
  });

  for (const answer of [401, new CodedError(409, POSTGRES_MISSING)])
    it(`reports what the user can remedy (${JSON.stringify(answer)}), even if a role was used before`, async () => {
      await connectionDefaults.remember('shop', used);
      store.service.script = () => answer;
      await assert.rejects(find(), offersFix);
    });

  it('reports that the service is not reachable only if nothing was used before', async () => {
    store.service.script = () => 500;
    assert.equal(proposedLogin(context(), request()), undefined);
    await assert.rejects(find(), /500/);
    await connectionDefaults.remember('shop', used);
    assert.deepEqual(await find(), { ...used, pooled: false });
  });
});
