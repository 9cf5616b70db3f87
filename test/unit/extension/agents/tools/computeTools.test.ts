import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { AgentBranches } from '../../../../../src/extension/inventory/agentBranches.ts';
import type { WindowDependencies } from '../../../../../src/extension/agents/ui/runInWindow.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { languageModelTool } = await import('../../../../../src/extension/agents/ui/runInWindow.ts');

const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

interface Listed {
  readonly projects: readonly { readonly computes: readonly object[]; readonly problem?: string }[];
}

describe('Tools for language models', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let deps: WindowDependencies;
  let agentBranches: AgentBranches;
  let logged: string[];
  let projects: unknown[];
  let computes: unknown[];

  const lists = (call: string) => {
    if (call === 'GET /projects') return { projects };
    return call.endsWith('/branches') ? { branches: [] } : { endpoints: computes };
  };

  beforeEach(async () => {
    answers.length = 0;
    questions.length = 0;
    projects = [{ id: 'shop', name: '[x](command:y)\n# Now delete' }];
    computes = [
      computeRecord('ep-main', { name: '<b>main</b>', host: 'ep-main.example.test', pooler_enabled: true }),
    ];
    service = await scriptService(lists);
    store = await connectModel(service);
    agentBranches = new AgentBranches(new MemoryMap());
    logged = [];
    const clean = (text: string) => text.replaceAll('napi_1', '‹redacted›');
    deps = {
      ...toolDependencies(store),
      agentBranches,
      log: {
        clean,
        hideKnownSecrets: clean,
        info: (text) => void logged.push(clean(text)),
        error: (text) => void logged.push(clean(text)),
      },
    };
  });

  const invoke = <T>(name: string, input: unknown, agent = 'Test') =>
    callTool(deps, name, input, { agent }) as Promise<T>;
  const target = { projectId: 'shop', computeId: 'ep-main' };

  it('ask the user before a change, and say what it does', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    const where = String.raw`<b>main</b> \(ep-main\) on the branch br-main of .* \(shop\)`;
    for (const [name, input, question] of [
      ['startCompute', target, `start ${where}\\? No connections are dropped`],
      ['restartCompute', target, `restart ${where}\\? .*connections are dropped`],
      ['suspendCompute', target, `suspend ${where}\\? .*connections are dropped`],
      ['resizeCompute', { ...target, minCu: 1, maxCu: 2 }, `change the size of ${where} to 1–2 CU\\? `],
    ] as const) {
      await assert.rejects(invoke(name, input), /did not approve/);
      assert.match(questions.splice(0).join('\n'), new RegExp(`^Let Test ${question}`));
    }
    assert.ok(service.requests.every((call) => call.startsWith('GET')));
    answers.push('Restart');
    await invoke('restartCompute', target);
    assert.ok(service.requests.includes('POST /projects/shop/endpoints/ep-main/restart'));
  });

  it('ask nothing and change nothing for the size that a compute has', async () => {
    const size = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 };
    computes = [computeRecord('ep-main', size)];
    const result = await invoke<{ readonly changed: boolean }>('resizeCompute', { ...target, minCu: 1 });
    assert.equal(result.changed, false);
    assert.deepEqual(questions, []);
    assert.ok(service.requests.every((call) => call.startsWith('GET')));
  });

  it('say how many connections a suspend drops', async () => {
    for (const [connections, text] of [
      [2, /2 open connections are dropped/],
      [0, /No connections are dropped/],
      [undefined, /Its connections are dropped/],
    ] as const) {
      service.script = (call) =>
        call.endsWith('/ep-main') ? { endpoint: computeRecord('ep-main', { connections }) } : lists(call);
      await assert.rejects(invoke('suspendCompute', target), /did not approve/);
      assert.match(questions.splice(0).join('\n'), text);
    }
  });

  it('ask nothing for a compute of the agent’s own branch', async () => {
    service.script = (call) => {
      if (!call.startsWith('GET')) return { endpoint: computes[0], operations: [] };
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const own = { id: 'br-main', name: 'agent/test', parent_id: 'br-parent', expires_at };
      return call.endsWith('/branches') ? { branches: [own] } : lists(call);
    };
    const branch = { account: accountId(store.account), projectId: 'shop', branchId: 'br-main' };
    const times = {
      createdAt: new Date().toISOString(),
      expiresAt: new Date(Date.now() + 1e6).toISOString(),
    };
    agentBranches.add({ ...branch, ...times, agent: 'Test', name: 'agent/test' });
    await invoke('restartCompute', target);
    assert.deepEqual(questions, []);
    await assert.rejects(invoke('restartCompute', target, 'Other'), /not approve/);
    store.marks['shop'] = 'production';
    await assert.rejects(invoke('restartCompute', target), /not approve/);
  });

  it('return text to the chat', async () => {
    const tool = languageModelTool(deps, 'hostedPostgres_listComputes');
    const options = { input: { project: 'shop' }, toolInvocationToken: undefined };
    const { content } = (await tool.invoke(options, token)) ?? { content: [] };
    assert.match(JSON.stringify(content), /^\[\{"value":"\{.*ep-main/);
  });

  it('say that the service cannot start computes', async () => {
    service.script = (call) => (call.startsWith('GET') ? lists(call) : 405);
    answers.push('Start');
    await assert.rejects(invoke('startCompute', target), /can.t start or suspend computes on request/);
  });

  it('change nothing that is marked as read-only, and nothing in production without its name', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    const changes = [
      ['restartCompute', target],
      ['startCompute', target],
      ['suspendCompute', target],
      ['resizeCompute', { ...target, minCu: 2 }],
    ] as const;
    store.marks['shop'] = 'readOnly';
    for (const [name, input] of changes)
      await assert.rejects(invoke(name, input), /protected the project shop/);
    store.marks['shop'] = 'production';
    for (const [name, input] of changes) await assert.rejects(invoke(name, input), /did not approve/);
    assert.ok(service.requests.every((call) => call.startsWith('GET')));
    answers.push('Restart', '<b>main</b>');
    await invoke('restartCompute', target);
    assert.ok(service.requests.includes('POST /projects/shop/endpoints/ep-main/restart'));
  });

  it('list the projects of now, or the known ones while the service can’t be reached', async () => {
    const problems = async () =>
      (await invoke<Listed>('listComputes', {})).projects.map(({ problem }) => problem);
    assert.deepEqual(await problems(), [undefined]);
    assert.equal((await invoke<Listed>('listComputes', undefined)).projects.length, 1);
    projects.push({ id: 'blog', name: 'blog' });
    assert.deepEqual(await problems(), [undefined, undefined]);
    service.script = () => 500;
    for (const problem of await problems()) assert.match(problem ?? '', /status 500/);
    assert.equal((await problems()).length, 2);
  });

  it('say the state of a compute, also one that is changing or unknown', async () => {
    for (const [fields, state] of [
      [{ current_state: 'idle' }, 'idle'],
      [{ current_state: 'idle', pending_state: 'active' }, 'idle, becoming active'],
      [{ current_state: 'melting' }, 'melting'],
    ] as const) {
      computes = [computeRecord('ep-main', fields)];
      const compute = await invoke<{ readonly state: string }>('getCompute', target);
      assert.equal(compute.state, state);
    }
  });

  it('describe a compute', async () => {
    const named = { name: 'main', host: 'ep-main.example.test', pooler_enabled: true };
    const size = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 60 };
    const settings = { pg_settings: { work_mem: '8MB' } };
    projects = [{ id: 'shop', name: 'Shop', region_id: 'local', pg_version: 17 }];
    computes = [computeRecord('ep-main', { ...named, ...size, settings })];
    await store.inventory.ensureProjects();
    assert.deepEqual(JSON.parse(JSON.stringify(await invoke('getCompute', target))), {
      computeId: 'ep-main',
      name: 'main',
      branchId: 'br-main',
      type: 'primary',
      state: 'active',
      minCu: 1,
      maxCu: 2,
      project: { projectId: 'shop', name: 'Shop', region: 'local', postgresVersion: 17 },
      host: 'ep-main.example.test',
      pooledHost: 'ep-main-pooler.example.test',
      maxConnections: 450,
      autosuspend: 'after 60 seconds without activity',
      postgresSettings: { work_mem: '8MB' },
    });
    projects = [{ id: 'shop', name: 'Shop', region_id: null, pg_version: null }];
    await store.inventory.refreshProjects();
    computes = [computeRecord('ep-main', { suspend_timeout_seconds: null })];
    const { autosuspend } = await invoke<Record<string, unknown>>('getCompute', target);
    assert.equal(autosuspend, 'after 300 seconds without activity');
    computes = [computeRecord('ep-main', { type: 'read_only', suspend_timeout_seconds: -1 })];
    const replica = await invoke<Record<string, unknown>>('getCompute', target);
    assert.deepEqual([replica['type'], replica['autosuspend']], ['read replica', 'never']);
  });

  it('say what is wrong with an input', async () => {
    for (const [name, input, message] of [
      ['dropEverything', {}, /^Unknown tool dropEverything\.$/],
      ['toString', {}, /^Unknown tool toString\.$/],
      ['getCompute', {}, /^projectId must be of type string\.$/],
      ['getCompute', { ...target, computeId: 'br-x' }, /^computeId must be the id of a compute .*\.$/],
      ['getCompute', { ...target, confirm: true }, /^Unknown input confirm\.$/],
      ['getCompute', { ...target, confirm: true, force: true }, /^Unknown input confirm, force\.$/],
      ['listBranches', { projectId: '../x' }, /^projectId must be the id of a project\.$/],
      ['deleteBranch', { projectId: 'shop', branchId: 'ep-x' }, /^branchId must be the id of a branch .*\.$/],
      ['createBranch', { hours: 0 }, /^hours must be a whole number from 1 to 720\.$/],
      ['getCompute', 'x', /^The input must be of type object\.$/],
      ['resizeCompute', { ...target, minCu: 0.3 }, /^The input must have sizes that exist.*[^.]\.$/],
    ] as const)
      await assert.rejects(invoke(name, input), { message });
    assert.deepEqual(service.requests, []);
  });

  it('are logged, and remembered if they are about a branch', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    answers.push('Restart');
    await invoke('restartCompute', target, 'napi_1\nError');
    await invoke('listComputes', { project: 'shop' });
    const unknown = invoke('drop\nnapi_1', { branchId: 'br-x', sql: "SELECT 'napi_1'" });
    await assert.rejects(unknown, /Unknown tool/);
    assert.deepEqual(logged, [
      '‹redacted› Error: restartCompute ep-main br-main',
      'Test: listComputes',
      'Test: drop ‹redacted› SELECT … br-x',
    ]);
    const calls = agentBranches.calls.map(({ agent, tool, text, failure }) =>
      [agent, tool, text, failure].join(' | '),
    );
    assert.deepEqual(calls, [
      '‹redacted› Error | restartCompute | ep-main | ',
      'Test | drop ‹redacted› | SELECT … | Unknown tool drop ‹redacted›.',
    ]);
  });

  it('return only chosen fields of a record, redacted', async () => {
    const secrets = { connection_uri: 'postgresql://a:hunter2@x', api_key: 'hunter2', name: 'napi_1' };
    computes = [{ ...computeRecord('ep-main'), ...secrets }];
    const results = JSON.stringify([await invoke('listComputes', {}), await invoke('getCompute', target)]);
    assert.doesNotMatch(results, /hunter2|napi_1/);
    assert.match(results, /ep-main/);
  });
});
