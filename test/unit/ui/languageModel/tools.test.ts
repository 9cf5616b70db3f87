import { answers } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ToolDependencies } from '../../../../src/ui/languageModel/toolInput.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

const { explainError } = await import('../../../../src/ui/text/errorMessage.ts');
const { TOOLS } = await import('../../../../src/ui/languageModel/tools.ts');

const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

interface Manifest {
  readonly contributes: { readonly languageModelTools: readonly { readonly name: string }[] };
}

interface Listed {
  readonly projects: readonly { readonly computes: readonly object[]; readonly problem?: string }[];
  readonly projectsLeftOut?: number;
}

describe('Tools for language models', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let deps: ToolDependencies;
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
    deps = { ...store, log: { clean: (text) => text, error: () => undefined } };
  });
  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const invoke = <T>(name: string, input: unknown) => TOOLS[name]?.invoke(deps, input, token) as Promise<T>;
  const prepare = (name: string, input: unknown) => TOOLS[name]?.prepare(deps, input);
  const target = { projectId: 'shop', computeId: 'ep-main' };

  it('are those of package.json', () => {
    const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));
    const names = manifest.contributes.languageModelTools.map(({ name }) => name);
    assert.deepEqual(Object.keys(TOOLS), names);
  });

  it('confirm changes with the escaped name of the compute and the consequence', async () => {
    await invoke('hostedPostgres_listComputes', {});
    for (const [name, input, title] of [
      ['hostedPostgres_restartCompute', target, /^Restart <b>main<\/b>\?$/],
      ['hostedPostgres_suspendCompute', target, /^Suspend <b>main<\/b>\?$/],
      [
        'hostedPostgres_resizeCompute',
        { ...target, minCu: 1, maxCu: 2 },
        /^Change the size of .* to 1–2 CU\?$/,
      ],
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
      const message = (await prepare('hostedPostgres_suspendCompute', target))?.confirmationMessages?.message;
      assert.match(typeof message === 'object' ? message.value : '', text);
    }
  });

  it('ask for no confirmation for invalid input', async () => {
    for (const input of [undefined, {}, { ...target, computeId: 'br-x' }, { ...target, projectId: '../x' }])
      assert.equal(await prepare('hostedPostgres_restartCompute', input), undefined);
    for (const minCu of [undefined, 'x', 0.3, 11])
      assert.equal(await prepare('hostedPostgres_resizeCompute', { ...target, minCu }), undefined);
  });

  it('say that the service cannot start computes', async () => {
    service.script = (call) => (call.startsWith('GET') ? lists(call) : 405);
    await assert.rejects(invoke('hostedPostgres_startCompute', target), (error) => {
      assert.match(explainError(error).message, /can.t start or suspend computes on request/);
      return true;
    });
  });

  it('change nothing that is marked as read-only, and nothing in production without its name', async () => {
    service.script = (call) =>
      call.startsWith('GET') ? lists(call) : { endpoint: computes[0], operations: [] };
    const changes = [
      ['hostedPostgres_restartCompute', target],
      ['hostedPostgres_startCompute', target],
      ['hostedPostgres_suspendCompute', target],
      ['hostedPostgres_resizeCompute', { ...target, minCu: 2 }],
    ] as const;
    store.marks['shop'] = 'readOnly';
    for (const [name, input] of changes) await assert.rejects(invoke(name, input), /marked the project shop/);
    store.marks['shop'] = 'production';
    for (const [name, input] of changes) await assert.rejects(invoke(name, input), /Canceled/);
    assert.ok(service.requests.every((call) => call.startsWith('GET')));
    answers.push('<b>main</b>');
    await invoke('hostedPostgres_restartCompute', target);
    assert.ok(service.requests.includes('POST /projects/shop/endpoints/ep-main/restart'));
  });

  it('return a limited number of projects and computes, and how many were left out', async () => {
    projects = Array.from({ length: 60 }, (_, index) => ({ id: `p-${index}`, name: `p${index}` }));
    computes = Array.from({ length: 30 }, (_, index) =>
      computeRecord(`ep-${index}`, { name: 'x'.repeat(4000), settings: { pg_settings: {} } }),
    );
    const listed = await invoke<Listed>('hostedPostgres_listComputes', {});
    assert.equal(listed.projects.length, 20);
    assert.equal(listed.projectsLeftOut, 40);
    assert.equal(listed.projects.flatMap((project) => project.computes).length, 100);
    assert.ok(JSON.stringify(listed).length < 100_000);
  });

  it('return only chosen fields of a record', async () => {
    const secrets = { connection_uri: 'postgresql://a:hunter2@x', api_key: 'hunter2' };
    computes = [{ ...computeRecord('ep-main'), ...secrets }];
    const results = JSON.stringify([
      await invoke('hostedPostgres_listComputes', {}),
      await invoke('hostedPostgres_getCompute', target),
    ]);
    assert.doesNotMatch(results, /hunter2/);
    assert.match(results, /ep-main/);
  });
});
