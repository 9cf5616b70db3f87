/** Which compute is read, and what is said before: an account's compute is never woken without a yes. */
import { answers, dialogs, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Compute } from '../../../../../src/api/records/records.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { prepareDatabase } = await import('../../../../../src/extension/database/commands/prepareDatabase.ts');

const QUESTION =
  'Peek Rows: wake the compute of main (shop)? The compute is idle. Reading starts it, and the time until it is idle again counts as usage.';
const OWNER =
  'Peek Rows: read the database app on main (shop) as the role owner? Nothing is committed. But code in the views, policies and functions of the database runs with the rights of owner, as in psql. If others can create such code, connect as a role that only reads.';
const PROJECT = '/projects/shop';

describe('prepareDatabase', () => {
  let endpoints: readonly Compute[];
  const primary = (change: Partial<Compute> = {}) =>
    computeRecord('ep-a', { branch_id: 'br-main', project_id: 'shop', current_state: 'active', ...change });

  beforeEach(() => {
    answers.length = questions.length = dialogs.length = 0;
    endpoints = [primary()];
  });

  const connect = async ({ isLocal = false } = {}) => {
    const replies: Readonly<Record<string, () => unknown>> = {
      'GET /projects': () => ({ projects: [{ id: 'shop', name: 'shop' }] }),
      [`GET ${PROJECT}/endpoints`]: () => ({ endpoints }),
      [`GET ${PROJECT}/branches`]: () => ({
        branches: [{ id: 'br-main', name: 'main', project_id: 'shop' }],
      }),
      [`GET ${PROJECT}/branches/br-main/databases`]: () => ({
        databases: [{ id: 1, branch_id: 'br-main', name: 'app', owner_name: 'owner' }],
      }),
      [`GET ${PROJECT}/branches/br-main/roles`]: () => ({ roles: [{ branch_id: 'br-main', name: 'owner' }] }),
      [`POST ${PROJECT}/branches/br-main/reader`]: () => ({
        reader: { role: 'service_reader', password: 'r3ader' },
      }),
      [`GET ${PROJECT}/connection_uri`]: () => ({ uri: 'postgresql://owner:secret@ep-a.example.test/app' }),
    };
    const model = await connectScripted((call) => replies[call]?.() ?? 404);
    await model.inventory.ensureProjects();
    await model.inventory.loadComputes('shop');
    await model.inventory.branches.ensureLoaded('shop');
    const { connection } = model.session;
    assert.ok(connection);
    // The service of the test is on this machine, as the local one is.
    Object.defineProperty(connection, 'isLocal', { value: isLocal });
    const context = { ...model, connectionDefaults: undefined, config: undefined };
    const account = connection.accountId;
    const find = async (mayWake = false, purpose?: 'write') =>
      await prepareDatabase(context as unknown as Parameters<typeof prepareDatabase>[0], {
        title: 'Peek Rows',
        branch: { account, projectId: 'shop', branchId: 'br-main' },
        database: 'app',
        mayWake,
        ...(purpose && { purpose }),
      });
    const passwords = () => model.service.requests.filter((call) => call.endsWith('/connection_uri')).length;
    return { find, passwords };
  };

  it('asks once before it reads an active compute as the owner', async () => {
    const { find, passwords } = await connect();
    assert.equal(await find(), undefined);
    assert.deepEqual([questions, passwords()], [[OWNER], 0]);
    questions.length = 0;
    answers.push('Read');
    assert.ok(await find());
    questions.length = 0;
    const { host, role, database, password } = (await find())?.login ?? {};
    assert.deepEqual([host, role, database, password], ['ep-a.example.test', 'owner', 'app', 'secret']);
    assert.deepEqual(questions, []);
  });

  it('asks before it wakes a compute that was suspended since the list was read, and asks for no password after a no', async () => {
    const { find, passwords } = await connect();
    endpoints = [primary({ current_state: 'idle' })];
    assert.equal(await find(), undefined);
    assert.deepEqual([questions, passwords()], [[QUESTION], 0]);
    answers.push('Wake and Read', 'Read');
    assert.equal((await find())?.login.password, 'secret');
    assert.deepEqual(
      [questions, dialogs],
      [
        [QUESTION, QUESTION, OWNER],
        [QUESTION, QUESTION, OWNER],
      ],
    );
  });

  it('asks nothing and reads as the role that only reads, if the service has one', async () => {
    const { find, passwords } = await connect({ isLocal: true });
    endpoints = [primary({ current_state: 'idle' })];
    const { role, password, readsFor } = (await find())?.login ?? {};
    assert.deepEqual([role, password, readsFor], ['service_reader', 'r3ader', 'owner']);
    assert.equal((await find(false, 'write'))?.login.role, 'owner');
    assert.deepEqual([questions, passwords()], [[], 1]);
  });

  it('does not ask if the command says that it wakes one', async () => {
    const { find } = await connect();
    endpoints = [primary({ current_state: 'idle' })];
    answers.push('Read');
    assert.ok(await find(true));
    assert.deepEqual(questions, [OWNER]);
  });

  for (const [what, change, reason] of [
    [
      'disabled',
      () => (endpoints = [primary({ current_state: 'idle', disabled: true })]),
      /The compute of main is disabled\./,
    ],
    ['deleted', () => (endpoints = []), /^Error: main has no compute\.$/],
  ] as const)
    it(`says that a compute was ${what} in the meantime`, async () => {
      const { find, passwords } = await connect();
      change();
      await assert.rejects(find(), reason);
      assert.deepEqual([questions, passwords()], [[], 0]);
    });
});
