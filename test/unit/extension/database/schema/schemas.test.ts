import assert from 'node:assert/strict';
import { isRejected } from '../../../../../src/api/transport/errors.ts';
import { AccountSwitchedError, NotOfferedError } from '../../../../../src/extension/window/changeErrors.ts';
import { parseSchemaUri, Schemas, schemaUri } from '../../../../../src/extension/database/schema/schemas.ts';
import { connectModel } from '../../../../helpers/connectedModel.ts';
import { CodedError, scriptService, type Script } from '../../../../helpers/scriptedService.ts';

const origin = { projectId: 'shop', branchId: 'br-main', database: 'app' };
const databases = { databases: [{ id: 1, name: 'app', owner_name: 'o' }] };
const script: Script = (call) => (call.endsWith('/schema') ? { sql: 'CREATE TABLE a ();' } : databases);

async function connectSchemas(replies: Script) {
  const service = await scriptService(replies);
  const { session, account, accounts } = await connectModel(service);
  const uriOf = (change: object = {}) => schemaUri(account, { ...origin, ...change }, 'main');
  const signOut = async () => {
    await accounts.choose(undefined);
    await session.reread();
  };
  return { service, schemas: new Schemas(session), uriOf, signOut };
}

describe('Schemas', () => {
  it('name the database in the URI, with any name', async () => {
    const { uriOf } = await connectSchemas(script);
    for (const database of ['app', 'a/b', 'größe 100% #?', '..', '🐘.sql']) {
      assert.deepEqual(parseSchemaUri(uriOf({ database })), { ...origin, database });
    }
    for (const at of [
      { timestamp: '2026-11-26T14:32:10.123Z' },
      { lsn: '0/1A2B3C8' },
      { lsn: '0/1A2B3C8', timestamp: '2026-11-26T14:32:10.123456Z' },
    ])
      assert.deepEqual(parseSchemaUri(uriOf({ at })), { ...origin, at });
    for (const path of ['/shop/main/app.sql', '/shop/br-main/a/b.sql', '/br-main/app.sql'])
      assert.equal(parseSchemaUri({ path }), undefined);
    assert.equal(uriOf({ database: 'a/b' }).path.split('/').at(-1), 'main.a-b.sql');
    // Those of version 0.4.
    for (const [path, at] of [
      ['/shop/br-main/app.sql', {}],
      ['/shop/br-main/0%2F1A2B3C8/app.sql', { at: { lsn: '0/1A2B3C8' } }],
    ] as const)
      assert.deepEqual(parseSchemaUri({ path }), { ...origin, ...at });
  });

  it('keep their URI in a later version, because VS Code restores open editors by it', async () => {
    const { service, uriOf } = await connectSchemas(script);
    assert.deepEqual(uriOf(), {
      scheme: 'hosted-postgres-schema',
      path: '/shop/br-main/now/app/main.app.sql',
      query: service.baseUrl,
    });
  });

  it('are loaded once for a document, until it is closed or refreshed', async () => {
    const { service, schemas, uriOf } = await connectSchemas(script);
    const changed: string[] = [];
    schemas.onDidChange(({ path }) => changed.push(path));
    const loads = () => service.requests.filter((call) => call.endsWith('/schema')).length;
    assert.equal(await schemas.text(uriOf()), 'CREATE TABLE a ();');
    await schemas.text(uriOf());
    assert.equal(loads(), 1);
    service.script = (call) => (call.endsWith('/schema') ? { sql: '' } : databases);
    assert.equal(await schemas.load(uriOf(), {}), '');
    assert.equal(await schemas.text(uriOf()), '');
    schemas.forget(uriOf());
    await schemas.text(uriOf());
    assert.equal(loads(), 3);
    assert.deepEqual(changed, Array(3).fill(uriOf().path));
  });

  it('are of a time, and empty if the database did not exist yet', async () => {
    const at = { timestamp: '2026-11-26T14:32:10.000Z' };
    const { service, schemas, uriOf } = await connectSchemas((call, query, body) =>
      query?.get('timestamp') === at.timestamp ? { sql: '-- then' } : script(call, query, body),
    );
    assert.equal(await schemas.load(uriOf({ at }), {}), '-- then');
    const thenWith =
      (code: string): Script =>
      (call, query, body) =>
        query?.has('timestamp') === true ? new CodedError(404, code) : script(call, query, body);
    service.script = thenWith('DATABASE_MISSING_THEN');
    assert.equal(await schemas.load(uriOf({ at }), {}), '');
    service.script = thenWith('NOT_FOUND');
    await assert.rejects(schemas.load(uriOf({ at }), {}), (error: unknown) => isRejected(error, 404));
    service.script = (call) => (call.includes('/schema') ? 404 : databases);
    await assert.rejects(schemas.load(uriOf({ at }), {}), NotOfferedError);
  });

  it('are kept by branch', async () => {
    const { schemas, uriOf } = await connectSchemas((call) =>
      call.endsWith('/schema') ? { sql: `-- ${call}` } : databases,
    );
    for (const branchId of ['br-main', 'br-dev'])
      assert.match(await schemas.text(uriOf({ branchId })), new RegExp(branchId));
    assert.match(await schemas.text(uriOf()), /br-main/);
  });

  it('are empty for a branch without the database', async () => {
    const { service, schemas, uriOf } = await connectSchemas(script);
    assert.equal(await schemas.load(uriOf({ database: 'other' }), {}), '');
    assert.deepEqual(service.requests, ['GET /projects/shop/branches/br-main/databases']);
  });

  for (const [call, status] of [
    ['databases', 405],
    ['schema', 404],
    ['schema', 403],
  ] as const)
    it(`say so if the service doesn't offer ${call} (${status})`, async () => {
      const { schemas, uriOf } = await connectSchemas((each) =>
        each.endsWith(call) ? status : script(each),
      );
      await assert.rejects(schemas.text(uriOf()), new NotOfferedError('schemas'));
    });

  it('are those of the account that the document was opened for', async () => {
    const { service, schemas, uriOf, signOut } = await connectSchemas(script);
    const uri = { ...uriOf(), query: 'https://other.example/api/v2' };
    await assert.rejects(schemas.text(uri), AccountSwitchedError);
    await signOut();
    await assert.rejects(schemas.text(uriOf()), AccountSwitchedError);
    assert.deepEqual(service.requests, []);
  });
});
