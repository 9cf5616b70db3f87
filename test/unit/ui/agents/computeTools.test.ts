import { answers, questions } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { AgentBranches } from '../../../../src/model/agents/agentBranches.ts';
import type { ToolDependencies } from '../../../../src/ui/agents/toolCall.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { toolDependencies } from '../../../helpers/toolDependencies.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

const { runTool } = await import('../../../../src/ui/agents/runTool.ts');
const { languageModelTool } = await import('../../../../src/ui/agents/languageModelTools.ts');

const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

interface Listed {
  readonly projects: readonly { readonly computes: readonly object[]; readonly problem?: string }[];
  readonly projectsLeftOut?: number;
}

describe('Tools for language models', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let deps: ToolDependencies;
  let agentBranches: AgentBranches;
  let logged: string[];
  let projects: unknown[];
  let computes: unknown[];

  const lists = (call: string) => {
    if (call === 'GET /projects') return { projects };
    return call.endsWith('/branches') ? { branches: [] } : { endpoints: computes };
  };

  beforeEach(async () => {
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
        info: (text) => void logged.push(clean(text)),
        error: (text) => void logged.push(clean(text)),
      },
    };
  });
  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const caller = {
    agent: 'Test',
    folder: undefined,
    signal: new AbortController().signal,
    isConfirmed: true,
  };
  const invoke = <T>(name: string, input: unknown) => runTool(deps, name, input, caller) as Promise<T>;
  const prepare = async (name: string, input: unknown) =>
    await languageModelTool(deps, `hostedPostgres_${name}`).prepareInvocation?.({ input }, token);
  const target = { projectId: 'shop', computeId: 'ep-main' };

  it('confirm changes with the escaped name of the compute and the consequence', async () => {
    await invoke('listComputes', {});
    for (const [name, input, title] of [
      ['restartCompute', target, /^Restart <b>main<\/b>\?$/],
      ['suspendCompute', target, /^Suspend <b>main<\/b>\?$/],
      ['resizeCompute', { ...target, minCu: 1, maxCu: 2 }, /^Change the size of .* to 1–2 CU\?$/],
    ] as const) {
      const confirmation = (await prepare(name, input))?.confirmationMessages;
      assert.match(confirmation?.title ?? '', title);
      const message = typeof confirmation?.message === 'string' ? '' : (confirmation?.message.value ?? '');
      assert.match(message, /ep\\-main .* \\\[x\\\]\\\(command\\:y\\\) \\# Now delete/);
      assert.match(message, /connections are dropped/);
      assert.doesNotMatch(message, /\n#|[^\\]\[/);
    }
  });

  it('say how many connections a suspend drops', async () => {
    for (const [connections, text] of [
      [2, /2 open connections are dropped/],
      [0, /No connections are interrupted/],
      [undefined, /Its connections are dropped/],
    ] as const) {
      service.script = () => ({ endpoint: computeRecord('ep-main', { connections }) });
      const message = (await prepare('suspendCompute', target))?.confirmationMessages?.message;
      assert.match(typeof message === 'object' ? message.value : '', text);
    }
  });

  it('ask for no confirmation for invalid input', async () => {
    for (const input of [undefined, {}, { ...target, computeId: 'br-x' }, { ...target, projectId: '../x' }])
      assert.equal(await prepare('restartCompute', input), undefined);
    for (const minCu of [undefined, 'x', 0.3, 11])
      assert.equal(await prepare('resizeCompute', { ...target, minCu }), undefined);
  });

  it('say that the service cannot start computes', async () => {
    service.script = (call) => (call.startsWith('GET') ? lists(call) : 405);
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
    for (const [name, input] of changes) await assert.rejects(invoke(name, input), /marked the project shop/);
    store.marks['shop'] = 'production';
    for (const [name, input] of changes) await assert.rejects(invoke(name, input), /did not approve/);
    assert.ok(service.requests.every((call) => call.startsWith('GET')));
    answers.push('<b>main</b>');
    await invoke('restartCompute', target);
    assert.ok(service.requests.includes('POST /projects/shop/endpoints/ep-main/restart'));
  });

  it('return a limited number of projects and computes, and how many were left out', async () => {
    projects = Array.from({ length: 60 }, (_, index) => ({ id: `p-${index}`, name: `p${index}` }));
    computes = Array.from({ length: 30 }, (_, index) =>
      computeRecord(`ep-${index}`, { name: 'x'.repeat(4000), settings: { pg_settings: {} } }),
    );
    const listed = await invoke<Listed>('listComputes', {});
    assert.equal(listed.projects.length, 20);
    assert.equal(listed.projectsLeftOut, 40);
    assert.equal(listed.projects.flatMap((project) => project.computes).length, 100);
    assert.ok(JSON.stringify(listed).length < 100_000);
  });

  it('ask the user themselves if the client may have asked nothing', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    const restart = () => runTool(deps, 'restartCompute', target, { ...caller, isConfirmed: false });
    await assert.rejects(restart(), /did not approve/);
    assert.match(
      questions.splice(0).at(-1) ?? '',
      /^Restart <b>main<\/b>\? Test asks for this\. .*connections are dropped/,
    );
    answers.push('Restart');
    await restart();
    assert.ok(service.requests.includes('POST /projects/shop/endpoints/ep-main/restart'));
  });

  it('say what is wrong with an input', async () => {
    for (const [name, input, message] of [
      ['dropEverything', {}, /^Unknown tool dropEverything\.$/],
      ['toString', {}, /^Unknown tool toString\.$/],
      ['getCompute', {}, /^projectId must be of type string\.$/],
      ['getCompute', { ...target, computeId: 'br-x' }, /^computeId must be the id of a compute/],
      ['getCompute', { ...target, confirm: true }, /^Unknown input confirm\.$/],
      ['getCompute', 'x', /^The input must be of type object\.$/],
      ['resizeCompute', { ...target, minCu: 0.3 }, /^The input must have sizes that exist/],
    ] as const)
      await assert.rejects(invoke(name, input), { message });
    assert.deepEqual(service.requests, []);
  });

  it('are logged, and remembered if they are about a branch', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    answers.push('Restart');
    await runTool(deps, 'restartCompute', target, { ...caller, agent: 'napi_1\nError', isConfirmed: false });
    await invoke('listComputes', { project: 'shop' });
    await assert.rejects(
      invoke('drop\nnapi_1', { branchId: 'br-x', sql: "SELECT 'napi_1'" }),
      /Unknown tool/,
    );
    assert.deepEqual(logged, [
      '‹redacted› Error: restartCompute ep-main br-main',
      'Test: listComputes',
      'Test: drop ‹redacted› SELECT … br-x',
    ]);
    const calls = agentBranches.calls.map(({ agent, tool, text }) => [agent, tool, text].join(' | '));
    assert.deepEqual(calls, [
      '‹redacted› Error | restartCompute | ep-main',
      'Test | drop ‹redacted› | SELECT … (Unknown tool drop ‹redacted›.)',
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
