import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { requireAgentLogin } from '../../../../src/extension/agents/agentLogin.ts';
import { findBranchUrl } from '../../../../src/extension/gitBranch/findBranchUrl.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import type { CommandContext } from '../../../../src/extension/commandSupport/context.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService } from '../../../helpers/scriptedService.ts';

const { findCredentials } = await import('../../../../src/extension/connection/commands/login.ts');

const HOST = 'ep-main.example.test';
/** The reply before which the user switches the account. */
const CLOSED = `me:late@${HOST}`;
const POOLED = 'ep-main-pooler.example.test';

/** What becomes of an answer: a command asks the user if there is no password, a checkout stops, an agent gets an error. */
const ANSWERS: readonly (readonly [
  what: string,
  answer: unknown,
  expected: { readonly command: string; readonly checkout: string; readonly agent: string },
])[] = [
  ['a password', `me:n%40w@${HOST}`, { command: 'n@w', checkout: 'n@w', agent: 'n@w' }],
  ['no such role', 404, { command: 'none', checkout: 'noPassword', agent: 'Error' }],
  ['not offered', 405, { command: 'none', checkout: 'noPassword', agent: 'Error' }],
  ['rejected', 400, { command: 'none', checkout: 'noPassword', agent: 'ApiError' }],
  ['a key that is not valid', 401, { command: 'ApiError', checkout: 'offline', agent: 'ApiError' }],
  ['failing', 503, { command: 'ApiError', checkout: 'offline', agent: 'ApiError' }],
  ['another host', 'me:x@other.test', { command: 'ApiError', checkout: 'offline', agent: 'ApiError' }],
  [
    'a password after the connection was closed',
    CLOSED,
    { command: 'ApiError', checkout: 'offline', agent: 'ApiError' },
  ],
];

describe('The password of a login', () => {
  let model: ConnectedModel;
  let answer: unknown;
  let compute = computeRecord('ep-main');
  const asked: Record<string, string>[] = [];

  beforeEach(async () => {
    asked.length = 0;
    compute = computeRecord('ep-main');
    const service = await scriptService((call, query) => {
      if (call.endsWith('/branches')) return { branches: [{ id: 'br-main', name: 'main' }] };
      if (call.endsWith('/endpoints')) return { endpoints: [compute] };
      if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'me' }] };
      if (call.endsWith('/roles')) return { roles: [{ name: 'me' }] };
      if (!call.endsWith('/connection_uri')) return { projects: [] };
      asked.push(Object.fromEntries(query ?? []));
      if (answer === CLOSED) model.session.connection?.close();
      return typeof answer === 'number' ? answer : { uri: `postgresql://${String(answer)}/app` };
    });
    model = await connectModel(service, { client: { retries: 0 } });
  });

  const connection = () => {
    const { connection: open } = model.session;
    assert(open);
    return open;
  };
  const context = () => model as unknown as CommandContext;
  const ids = { projectId: 'shop', branchId: 'br-main' };

  /** The password, or else what became of the answer. */
  const ways = {
    async command(pooled = false) {
      const login = { role: 'me', database: 'app', pooled };
      return (await findCredentials(context(), { title: '', compute }, login))?.password ?? 'none';
    },
    async checkout(pooled = false) {
      const knownHosts = new KnownHosts(new MemoryMap());
      const account = connection().accountId;
      if (pooled) await knownHosts.remember(model.inventory, account, [computeRecord('ep-main')]);
      const before = { name: 'DATABASE_URL', value: `postgres://me:old@${pooled ? POOLED : HOST}/app` };
      const found = await findBranchUrl({ ...model, knownHosts }, { ...ids, account }, before);
      return found.problem ?? decodeURIComponent(new URL(found.value).password);
    },
    async agent() {
      const { signal } = new AbortController();
      return (await requireAgentLogin(model.inventory, { ...ids, connection: connection(), signal }))
        .password;
    },
  };

  for (const [what, reply, expected] of ANSWERS)
    for (const way of ['command', 'checkout', 'agent'] as const)
      it(`${what}: ${expected[way]} for a ${way}`, async () => {
        answer = reply;
        const found = await ways[way]().catch((error: unknown) => (error as Error).constructor.name);
        assert.equal(found, expected[way]);
        const query = { endpoint_id: 'ep-main', branch_id: 'br-main', role_name: 'me', database_name: 'app' };
        assert.deepEqual(asked, [{ ...query, pooled: 'false' }]);
      });

  for (const way of ['command', 'checkout'] as const)
    it(`is of the pooled host for a ${way}, if the compute has one`, async () => {
      answer = `me:pooled@${POOLED}`;
      assert.equal(await ways[way](true), 'pooled');
      assert.equal(asked[0]?.['pooled'], 'true');
      compute = computeRecord('ep-main', { host: '127.0.0.1:15432' });
      answer = 'me:direct@127.0.0.1:15432';
      await model.inventory.refreshComputes('shop');
      assert.equal(await ways[way](true), 'direct');
      assert.equal(asked[1]?.['pooled'], 'false');
    });
});
